// Builds the page into the folder that the server hands out, and records what it was built from. `node build.mjs [FOLDER]`
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "../src/detent/interfaces/http/static");

// The same sum is made by tests/test_web_build.py: every source file by its name and content, in order.
function sources() {
  const found = readdirSync(join(here, "src"), { recursive: true, withFileTypes: true }).filter((f) => f.isFile());
  const names = found.map((f) => relative(here, join(f.parentPath ?? f.path, f.name)));
  return [...names, "build.mjs", "package.json", "package-lock.json"].sort();
}

const sum = createHash("sha256");
for (const name of sources()) sum.update(`${name}\0`).update(readFileSync(join(here, name))).update("\0");

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const made = await build({
  entryPoints: [join(here, "src/main.jsx"), join(here, "src/style.css")],
  outdir: out, absWorkingDir: here, bundle: true, minify: true, splitting: true, format: "esm", target: "es2022",
  entryNames: "[name]-[hash]", chunkNames: "[name]-[hash]", jsx: "automatic", jsxImportSource: "preact",
  legalComments: "none", metafile: true, logLevel: "warning",
});
const names = Object.keys(made.metafile.outputs).map((n) => n.split("/").pop());
const pick = (start, end) => names.find((n) => n.startsWith(start) && n.endsWith(end));
const icon = readFileSync(join(here, "src/icon.svg"));
writeFileSync(join(out, "icon.svg"), icon);
const page = readFileSync(join(here, "src/index.html"), "utf8")
  .replace("{style}", pick("style", ".css")).replace("{script}", pick("main", ".js"));
writeFileSync(join(out, "index.html"), page);
writeFileSync(join(out, "built.json"), JSON.stringify({ sources: sum.digest("hex") }, null, 1) + "\n");
