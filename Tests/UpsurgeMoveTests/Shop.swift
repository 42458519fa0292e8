import TestSupport

/// A database of 20 tables with all that a move must carry: circles, BLOBs, generated columns, partial indexes, names of any letters.
enum Shop {
  /// - Parameter rowCount: of the largest table.
  static func make(_ path: String, rowCount: Int = 3_000) throws {
    let database = Database(path)
    _ = try database.rows(schema)
    _ = try database.rows(rows(rowCount))
  }

  static let tables = [
    "departments", "employees", "categories", "products", "customers", "orders", "order lines", "notes",
    "photos", "settings", "empty",
    "empty child", "größen", "numbers", "days", "pairs", "log", "left", "right", "keyless",
  ]

  private static let schema = #"""
    CREATE TABLE departments(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, head INTEGER REFERENCES employees(id) ON DELETE SET NULL);
    CREATE TABLE employees(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, department INTEGER NOT NULL REFERENCES departments,
      boss INTEGER REFERENCES employees(id) DEFERRABLE INITIALLY DEFERRED);
    CREATE TABLE categories(code TEXT PRIMARY KEY, parent TEXT REFERENCES categories(code) ON UPDATE CASCADE) WITHOUT ROWID;
    CREATE TABLE products(id INTEGER PRIMARY KEY, category TEXT REFERENCES Categories(code), title VARCHAR(40) NOT NULL,
      price DECIMAL(10,2) NOT NULL DEFAULT 0, weight REAL, active BOOLEAN NOT NULL DEFAULT 1, CHECK (weight IS NULL OR weight >= 0));
    CREATE TABLE customers(id INTEGER PRIMARY KEY, email TEXT NOT NULL, country TEXT DEFAULT 'DE', born DATE, extra JSON);
    CREATE UNIQUE INDEX customers_email ON customers(lower(email));
    CREATE TABLE orders(id INTEGER PRIMARY KEY AUTOINCREMENT, customer INTEGER NOT NULL REFERENCES customers(id) ON DELETE CASCADE,
      state TEXT NOT NULL CHECK (state IN ('new', 'paid', 'sent')), placed DATETIME, total INTEGER NOT NULL,
      tax INTEGER GENERATED ALWAYS AS (total * 19) STORED, label TEXT GENERATED ALWAYS AS (state || '-' || total) VIRTUAL);
    CREATE INDEX orders_open ON orders(customer, placed DESC) WHERE state <> 'sent';
    CREATE TABLE "order lines"("order" INTEGER NOT NULL REFERENCES orders(id), line INTEGER NOT NULL, product INTEGER REFERENCES products(id),
      amount INTEGER NOT NULL, PRIMARY KEY ("order", line));
    CREATE INDEX lines_product ON "order lines"(product);
    CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT, size INTEGER AS (length(text)));
    CREATE TABLE photos(id INTEGER PRIMARY KEY, content BLOB NOT NULL, hash BLOB UNIQUE);
    CREATE TABLE settings(name TEXT COLLATE NOCASE PRIMARY KEY, value);
    CREATE TABLE empty(id INTEGER PRIMARY KEY, value TEXT);
    CREATE TABLE "empty child"(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES empty(id));
    CREATE TABLE "größen"("schlüssel" TEXT PRIMARY KEY, "Größe ""XL""" REAL, "日本" TEXT);
    CREATE TABLE numbers(id INTEGER PRIMARY KEY, big BIGINT, small SMALLINT, real DOUBLE PRECISION, any_number NUMERIC);
    CREATE TABLE days(id INTEGER PRIMARY KEY, day DATE, moment TIMESTAMP, clock TIME, loose DATE);
    CREATE TABLE pairs(a INTEGER, b TEXT, c REAL, UNIQUE (a, b));
    CREATE TABLE log(at INTEGER, what TEXT);
    CREATE INDEX log_at ON log(at);
    CREATE TABLE left(id INTEGER PRIMARY KEY, other INTEGER REFERENCES right(id));
    CREATE TABLE right(id INTEGER PRIMARY KEY, other INTEGER REFERENCES left(id));
    CREATE TABLE keyless(a, b TEXT, c BLOB);
    CREATE VIEW paid AS SELECT * FROM orders WHERE state = 'paid';
    CREATE TRIGGER noted AFTER INSERT ON notes BEGIN INSERT INTO log VALUES (1, 'note'); END;
    """#

  private static func rows(_ count: Int) -> String {
    """
    PRAGMA foreign_keys=OFF;
    INSERT INTO departments VALUES (1, 'Ost', 2), (2, 'West', NULL);
    INSERT INTO employees VALUES (1, 'Ann', 1, 2), (2, 'Bo', 1, NULL), (9, 'gone', 2, NULL);
    DELETE FROM employees WHERE id = 9;
    INSERT INTO categories VALUES ('a', NULL), ('b', 'a'), ('ä', 'b');
    INSERT INTO products VALUES (1, 'a', 'Pen', 1.25, 0.1, 1), (2, 'ä', 'Ink', 3, NULL, 0), (-5, NULL, 'it''s "x"', 0.1, 1e300, 1);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count / 3))
      INSERT INTO customers SELECT i, 'Person' || i || '@example.org', CASE i % 3 WHEN 0 THEN NULL ELSE 'FR' END,
        date('2000-01-01', i || ' days'), json_object('i', i) FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
      INSERT INTO orders(id, customer, state, placed, total) SELECT i, 1 + i % \(count / 3), CASE i % 3 WHEN 0 THEN 'new' WHEN 1 THEN 'paid' ELSE 'sent' END,
        datetime('2024-01-01', i || ' minutes'), i * 7 FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
      INSERT INTO "order lines" SELECT i, 1, 1 + i % 2, i % 9 FROM n;
    INSERT INTO notes(id, text) VALUES (1, ''), (2, 'ä€😀' || char(10) || char(9) || '\\ "'), (3, NULL), (4, ' x ');
    INSERT INTO photos VALUES (1, zeroblob(3), NULL), (2, randomblob(200000), x'00ff'), (3, x'', x'01');
    INSERT INTO settings VALUES ('Colour', 'red'), ('size', '12');
    INSERT INTO "größen" VALUES ('ä', 1.5, '日本語'), ('Z', -0.0, NULL);
    INSERT INTO numbers VALUES (1, 9223372036854775807, 32767, 9e999, 12), (2, -9223372036854775808, -32768, -9e999, 0.5),
      (3, NULL, NULL, 5e-324, NULL), (9007199254740993, 0, 0, 0.1, 1e20);
    INSERT INTO days VALUES (1, '2024-02-29', '2024-02-29 12:00:00', '23:59:59', 'soon'), (2, NULL, NULL, NULL, '2024-13-01');
    INSERT INTO pairs VALUES (1, 'a', 1), (1, 'b', NULL), (NULL, NULL, 2.5), (NULL, NULL, 2.5);
    INSERT INTO log VALUES (5, 'a'), (5, 'a'), (3, NULL);
    INSERT INTO left VALUES (1, 1), (2, 1);
    INSERT INTO right VALUES (1, 2);
    INSERT INTO keyless VALUES (1, 'x', x'00'), (1, 'x', x'00'), (2, NULL, NULL);
    """
  }
}
