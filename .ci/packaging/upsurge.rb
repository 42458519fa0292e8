# A formula for Homebrew. UNTESTED: this project is built and tested on Debian alone, and nobody has run this file.
# Before it is of use: put the address of a release and its hash in, then `brew install --build-from-source ./upsurge.rb`.
class Upsurge < Formula
  desc "Loads CSV, TSV, NDJSON and JSON into SQLite fast, and keeps tables in step with feeds"
  homepage "https://example.org/upsurge"
  url "https://example.org/upsurge-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on xcode: ["26.0", :build]
  depends_on "libyaml"
  depends_on macos: :sequoia
  depends_on "zstd"
  uses_from_macos "curl"
  uses_from_macos "sqlite"
  uses_from_macos "zlib"

  def install
    ENV["UPSURGE_PART"] = "command"
    system "swift", "build", "--disable-sandbox", "-c", "release", "--product", "upsurge"
    bin.install ".build/release/upsurge"
    if File.executable?(".ci/generate")
      system "env", "UPSURGE_COMMAND=#{bin}/upsurge", ".ci/generate", "generated"
      man1.install Dir["generated/man1/*.1"]
      bash_completion.install "generated/bash/upsurge"
      zsh_completion.install "generated/zsh/_upsurge"
      fish_completion.install "generated/fish/upsurge.fish"
    end
  end

  test do
    (testpath/"people.csv").write "id,name\n1,Ann\n2,Bob\n"
    system bin/"upsurge", "load", "app.db", "people", "people.csv", "--key", "id"
    assert_equal "2\n", shell_output("sqlite3 app.db 'SELECT count(*) FROM people'")
  end
end
