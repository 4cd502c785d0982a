/* size.mjs ROOT MODULE CLI: what a browser loads before the page is there, compressed as servers do.
 * All files of build/web count but the module for old engines and the package. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

const folder = dirname(process.argv[3]);
const LIMIT = 400 * 1024;

test('module and page are under 400 KiB with gzip', () => {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter(entry => entry.isFile() && entry.name !== 'tamis-plain.wasm')
        .map(entry => join(entry.path, entry.name))
        .filter(path => !path.startsWith(join(folder, 'npm')));
    const sizes = files.map(path => gzipSync(readFileSync(path), { level: 9 }).length);
    files.forEach((path, i) => console.log(`${String(sizes[i]).padStart(8)}  ${path.slice(folder.length + 1)}`));
    const sum = sizes.reduce((a, b) => a + b, 0);
    assert.ok(files.length >= 3 && sum < LIMIT, `${sum} bytes`);
});
