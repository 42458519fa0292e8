// The search over all pages: below the field while one types, and as a page of its own, search.html?q=WORDS, which is what the
// form asks for. The index is a script, as pages from file:// may not read files. It is loaded when somebody searches.
(() => {
  const root = document.currentScript.dataset.root;
  const form = document.querySelector('form[role=search]');
  const field = form.elements.q;
  const panel = form.querySelector('.found');
  const results = document.getElementById('results');

  let index;
  let loading;
  function load() {
    loading ??= new Promise((done, failed) => {
      window.searchIndex = found => { index = found; done(); };
      const script = document.createElement('script');
      script.src = root + 'search-index.js';
      script.onerror = failed;
      document.head.append(script);
    });
    return loading;
  }

  // A word of the query. "resume" also finds Resuming: only the stem counts. Capitals count a little: COPY is not "a copy".
  function term(word) {
    const lower = word.toLowerCase();
    const stem = lower.length > 4 ? lower.replace(/(?<=.{4})(ing|ed|es|e|s)$/, '') : lower;
    const source = stem.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    return {
      stem, source, begins: new RegExp('(^|[^\\p{L}\\p{N}])' + source, 'giu'), isWhole: text => text.toLowerCase() === lower,
      capitals: word !== lower ? word : null,
    };
  }

  // How well a text has the word: as the whole text, at the start of a word, or anywhere.
  function weigh(text, term, whole, start, inside) {
    if (term.isWhole(text)) return whole;
    const starts = (text.match(term.begins) || []).length;
    const weight = starts > 0 ? start * Math.min(starts, 5) : text.toLowerCase().includes(term.stem) ? inside : 0;
    return weight > 0 && term.capitals && text.includes(term.capitals) ? weight * 2 : weight;
  }

  // Pages with their best sections, best first. A section has all words, itself or in the page's title. Roots let a section win that
  // has two words in its heading over one that has the first very often.
  function search(query) {
    const terms = query.split(/\s+/).filter(Boolean).map(term);
    if (terms.length === 0) return [];
    const kinds = {manual: 3, article: 2, symbol: 1};
    const pages = new Map();
    for (const [number, id, heading, text] of index.sections) {
      const page = index.pages[number];
      let score = 0;
      for (const each of terms) {
        const own = weigh(heading, each, 60, 20, 8) + weigh(text, each, 4, 2, 1);
        const title = weigh(page[1], each, 80, 30, 10);
        if (own + title === 0) { score = 0; break; }
        score += Math.sqrt(kinds[page[3]] * (own + title));
      }
      if (score === 0) continue;
      const found = pages.get(number) || {page, score: 0, sections: []};
      found.score = Math.max(found.score, score);
      found.sections.push({id, heading, text, score});
      pages.set(number, found);
    }
    return [...pages.values()].sort((one, other) => other.score - one.score).map(found => {
      found.sections.sort((one, other) => other.score - one.score);
      return found;
    });
  }

  // The text around the first word that is found, with all of them marked.
  function snippet(text, terms) {
    const line = document.createElement('p');
    const places = terms.map(each => text.toLowerCase().indexOf(each.stem)).filter(place => place >= 0);
    const start = Math.max(0, (places.length ? Math.min(...places) : 0) - 50);
    const begin = start > 0 ? text.indexOf(' ', start) + 1 : 0;
    const stop = begin + 150 < text.length ? text.lastIndexOf(' ', begin + 150) : text.length;
    const part = (begin > 0 ? '… ' : '') + text.slice(begin, Math.max(stop, begin + 75)) + (stop < text.length ? ' …' : '');
    let end = 0;
    for (const found of part.matchAll(new RegExp(`(?:${terms.map(each => each.source).join('|')})[\\p{L}\\p{N}]*`, 'giu'))) {
      const mark = document.createElement('mark');
      mark.textContent = found[0];
      line.append(part.slice(end, found.index), mark);
      end = found.index + found[0].length;
    }
    line.append(part.slice(end));
    return line;
  }

  function link(address, text) {
    const element = document.createElement('a');
    element.href = root + address;
    element.textContent = text;
    return element;
  }

  // Shows what is found: so many pages, each with so many sections.
  function show(place, query, pageCount, sectionCount) {
    const found = search(query);
    const terms = query.split(/\s+/).filter(Boolean).map(term);
    place.replaceChildren();
    if (terms.length > 0 && (found.length === 0 || place === results)) {
      const line = document.createElement('p');
      line.className = 'count';
      const count = found.length === 0 ? 'No page has' : found.length === 1 ? '1 page has' : `${found.length} pages have`;
      line.textContent = `${count} “${query}”.`;
      place.append(line);
    }
    for (const {page, sections} of found.slice(0, pageCount)) {
      const entry = document.createElement('div');
      entry.className = 'entry';
      const top = document.createElement('h2');
      const module = document.createElement('small');
      module.textContent = page[2];
      top.append(link(page[0], page[1]), ' ', module);
      entry.append(top);
      for (const section of sections.slice(0, sectionCount)) {
        if (section.heading) {
          const heading = document.createElement('h3');
          heading.append(link(`${page[0]}#${section.id}`, section.heading));
          entry.append(heading);
        }
        if (section.text) entry.append(snippet(section.text, terms));
      }
      place.append(entry);
    }
  }

  async function update() {
    await load();
    if (results) {
      show(results, field.value, 40, 3);
      return;
    }
    show(panel, field.value, 8, 1);
    panel.hidden = field.value.trim() === '';
  }

  field.addEventListener('input', update);
  field.addEventListener('focus', load);
  document.addEventListener('click', event => { if (!form.contains(event.target)) panel.hidden = true; });
  document.addEventListener('keydown', event => {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      field.focus();
    }
    if (event.key === 'Escape') panel.hidden = true;
  });

  // In a long menu, the page that is shown is in view.
  const here = document.querySelector('.menu [aria-current]');
  const menu = document.querySelector('.menu');
  if (here) menu.scrollTop = here.offsetTop - menu.clientHeight / 2;

  if (results) {
    field.value = new URLSearchParams(location.search).get('q') || '';
    update();
  }
})();
