// SPDX-License-Identifier: MIT
// node build.mjs OUT_DIR: writes one self-contained HTML file per page, with a placeholder for the data.
import { build } from 'esbuild';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const pages = ['modes', 'viewer'];

async function page(name, out) {
  const folder = path.join(here, 'src', name);
  const bundle = await build({
    entryPoints: [path.join(folder, 'main.js')],
    bundle: true, minify: true, write: false, format: 'esm', target: 'es2022', legalComments: 'none', charset: 'utf8',
  });
  // Inside a <script> element only "</script" and "<!--" are special.
  const script = bundle.outputFiles[0].text.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
  const style = await readFile(path.join(folder, 'page.css'), 'utf8');
  const html = await readFile(path.join(folder, 'page.html'), 'utf8');
  // Replacement functions: a string would have its $ signs interpreted.
  const text = html.replace('/*STYLE*/', () => style).replace('/*SCRIPT*/', () => script);
  await writeFile(path.join(out, `${name}.html`), text);
}

const out = process.argv[2];
if (!out) {
  console.error('usage: node build.mjs OUT_DIR');
  process.exit(2);
}
await mkdir(out, { recursive: true });
for (const name of pages) await page(name, out);
