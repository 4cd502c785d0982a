/* page.mjs ROOT MODULE CLI: the playground in a real browser.
 *
 * Chromium is the system's; playwright-core, which drives it, and axe-core, which looks for
 * barriers, are installed by npm into the folder where the test runs. Pictures are left there.
 * Without a browser, npm or a network the test fails: a page that nobody looked at is not tested.
 *
 * Nothing moves in most tests (prefers-reduced-motion), so that none waits for an animation. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { install } from './shared/install.mjs';

const [root, module, tamis] = process.argv.slice(2);
const folder = dirname(module); // the page is beside the package
const here = process.cwd();
const BROWSER = '/usr/bin/chromium';

assert.ok(existsSync(BROWSER), `no ${BROWSER}: 'tools/bootstrap check' installs it`);
install(root, here);
const require = createRequire(join(here, 'node_modules', 'here.js'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const MOST_BYTES = 400 * 1024;
const SAMPLE = ['apple', 'pear', 'plum', 'cherry', 'quince'];
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css',
    '.wasm': 'application/wasm' };
const pictures = join(here, 'pictures');

// ---- A server, a browser, a page ----------------------------------------

const server = createServer((request, response) => {
    const name = request.url === '/' ? '/index.html' : request.url;
    try {
        const body = readFileSync(join(folder, name));
        response.writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'text/plain' });
        response.end(body);
    } catch {
        response.writeHead(404).end();
    }
});

let browser, address, shared;
const complaints = []; // of the console, and requests to elsewhere

before(async () => {
    mkdirSync(pictures, { recursive: true });
    await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${server.address().port}/`;
    // In containers there is often no room for the sandbox and little shared memory.
    browser = await chromium.launch(
        { executablePath: BROWSER, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
    shared = await browser.newPage({ acceptDownloads: true });
    shared.setDefaultTimeout(60000);
    shared.on('console', message => complaints.push(`${message.type()}: ${message.text()}`));
    shared.on('pageerror', error => complaints.push(error.stack || error.message));
    shared.on('request', request => {
        if (!request.url().startsWith(address) && !/^(data|blob):/.test(request.url()))
            complaints.push(`asks for ${request.url()}`);
    });
    await weigh(() => open(shared));
});

/** Gzipped sizes of what the first paint loads, by name. */
const sizes = new Map();

async function weigh(load) {
    const bodies = [];
    const take = response => bodies.push(response.body().then(body => {
        const name = response.url().slice(address.length) || 'index.html';
        sizes.set(name, gzipSync(body, { level: 9 }).length);
    }));
    shared.on('response', take);
    await load();
    await Promise.all(bodies);
    shared.off('response', take);
}

/** Loads the page, or says why there is none. */
async function open(page) {
    await page.goto(address);
    await page.waitForSelector('html[data-ready]').catch(error => {
        throw new Error(`the page is not ready: ${complaints.join('\n') || error.message}`);
    });
}

after(async () => {
    await browser?.close();
    server.close();
});

/** One page for all tests, as loading it takes longest; each begins with the words of SAMPLE in a
 * Bloom filter. Afterwards nothing may have been complained of. */
async function withPage(options, use) {
    const { hash = '#play', width = 1280, ...media } = options;
    complaints.length = 0;
    await shared.setViewportSize({ width, height: 900 });
    await shared.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce', ...media });
    await go(shared, '#play');
    await pick(shared, 'bloom');
    await press(shared, 'Start again');
    for (const word of SAMPLE)
        await tellFast(shared, word, 'Add');
    await go(shared, hash);
    await use(shared);
    assert.deepEqual(complaints, []);
}

/** To a page of the playground, until it is there. */
async function go(page, hash) {
    const [name, stop] = hash.slice(1).split('/');
    await page.evaluate(to => { location.hash = to; }, hash);
    await page.waitForSelector(stop ? `.stops a[href="${hash}"][aria-current]` : `.${name}`);
}

const press = (page, name) => page.getByRole('button', { name, exact: true }).click();
const answer = page => page.locator('.answer').innerText();

async function tell(page, word, button) {
    await page.fill('.ask input', word);
    await press(page, button);
    return answer(page);
}

const ask = (page, word) => tell(page, word, 'Ask');
const add = (page, word) => tell(page, word, 'Add');

/** The same without waiting for the mouse, where it is done a hundred times. */
const tellFast = (page, word, name) => page.evaluate(([text, button]) => {
    document.querySelector('.ask input').value = text;
    const buttons = [...document.querySelectorAll('.ask button')];
    buttons.find(({ innerText }) => innerText === button).click();
    return document.querySelector('.answer').innerText;
}, [word, name]);

const pick = (page, kind) => page.getByLabel('Kind').selectOption(kind);
const kindsOf = page => page.getByLabel('Kind').locator('option').allInnerTexts();
const values = page => page.locator('.cell .value').allInnerTexts();
const fact = (page, name) =>
    page.locator('.facts div', { hasText: name }).locator('dd').innerText();
const says = (page, text) => page.locator('[role=status]', { hasText: text }).waitFor();

/** Serious faults that axe-core finds; contrasts, which take longest, are looked at if asked. */
async function faults(page, withContrast = true) {
    if (!await page.evaluate(() => 'axe' in globalThis))
        await page.evaluate(axe);
    const { violations } = await page.evaluate(enabled => globalThis.axe.run(
        { resultTypes: ['violations'], rules: { 'color-contrast': { enabled } } }), withContrast);
    return violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
        .map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(({ html }) => html.slice(0, 150))]);
}

const isWiderThanScreen = page => page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth > clientWidth;
});

// ---- What is loaded -----------------------------------------------------

test('first paint takes less than 400 KiB, gzipped', () => {
    const sum = [...sizes.values()].reduce((a, b) => a + b);
    console.log(`first paint: ${sum} bytes`, Object.fromEntries(sizes));
    assert.ok(sizes.has('tamis.wasm') && sizes.has('app.js'));
    assert.ok(sum < MOST_BYTES, `${sum} bytes`);
    assert.deepEqual(complaints, []);
});

// ---- Play ---------------------------------------------------------------

test('words are added, asked for and removed, and cells change', () => withPage({}, async page => {
    await pick(page, 'counting');
    const before = await values(page);
    assert.match(await ask(page, 'walnut'), /^No, walnut is not there/);
    assert.match(await add(page, 'walnut'), /^walnut was added: \d cells changed/);
    const added = await values(page);
    assert.notDeepEqual(added, before);
    assert.match(await ask(page, 'walnut'), /^Yes, walnut is found.*It counts 1\. It was added\./);
    assert.match(await tell(page, 'walnut', 'Remove'), /^walnut was removed/);
    assert.deepEqual(await values(page), before);
    assert.equal(await fact(page, 'Keys'), '5 of 8');
}));

test('errors are in the words of the library', () => withPage({}, async page => {
    assert.equal(await tell(page, 'pear', 'Remove'), 'this kind cannot do that');
    await pick(page, 'bitmap');
    assert.equal(await add(page, '99'), 'a number is outside what this kind can do');
    assert.match(await add(page, 'pear'), /'pear' is not a whole number/);
    await pick(page, 'cuckoo');
    assert.match(await tell(page, 'nowhere', 'Remove'), /the key is not in the filter/);
}));

test('every kind is drawn, explained, and finds its words', () => withPage({}, async page => {
    for (const kind of await kindsOf(page)) {
        await pick(page, kind);
        const isIndexed = await page.locator('.ask label').innerText() === 'A number';
        const words = isIndexed ? ['1', '4', '6', '7'] : [...SAMPLE, 'fig'];
        await tellFast(page, words.at(-1), 'Add');
        for (const word of words)
            assert.match(await tellFast(page, word, 'Ask'), /^Yes, \w+ is found/, kind);
        assert.ok(await page.locator('.cell.read').count() > 0, `${kind}: no cell is read`);
        assert.ok(!await isWiderThanScreen(page), `${kind} is too wide`);
    }
}));

test('an answer can be stepped through', () => withPage({}, async page => {
    await ask(page, 'pear');
    const steps = await page.locator('.steps li').count();
    const read = await page.locator('.cell.read').count();
    assert.ok(steps > 3 && read > 1);
    assert.equal(await page.locator('.where').innerText(), `Step ${steps} of ${steps}`);
    await press(page, 'Back');
    await press(page, 'Back');
    assert.equal(await page.locator('.cell.read').count(), read - 1);
    assert.equal(await page.locator('.steps [aria-current=step]').count(), 1);
    await page.locator('.steps button').first().click();
    assert.equal(await page.locator('.cell.read').count(), 0);
    assert.match(await page.locator('.steps').innerText(), /hash is 0x[0-9a-f]{16}/);
}));

test('a false positive is found, and taken back by a filter that adapts',
    () => withPage({}, async page => {
    await pick(page, 'aqf');
    await press(page, 'Find a false positive');
    assert.match(await answer(page), /^Yes, .*It never was: a false positive\./);
    await press(page, 'Tell the filter that it is wrong');
    await press(page, 'Ask');
    assert.match(await answer(page), /^No, /);
    assert.match(await ask(page, 'pear'), /^Yes, /);
}));

test('peeling is stepped through, to the filter that it makes',
    () => withPage({ hash: '#tour/xor' }, async page => {
    const made = await values(page);
    await press(page, 'Peel it, step by step');
    const texts = await page.locator('.steps li').allInnerTexts();
    const of = verb => texts.filter(text => text.includes(` ${verb} `)).length;
    assert.deepEqual([of('touches'), of('is the only one left at'), of('fills')], [6, 6, 6]);
    await page.locator('.steps button').first().click();
    assert.equal(await page.locator('.cell.read').count(), 3);
    assert.deepEqual((await values(page)).filter(Boolean), ['1', '1', '1']);
    for (let i = 1; i < texts.length; i++)
        await press(page, 'Next');
    const cells = await values(page);
    assert.ok(cells.length > 3);
    assert.deepEqual(cells.map(Number), made.slice(0, cells.length).map(Number));
    await page.locator('.chips button').first().click();
    assert.deepEqual(await values(page), made);
    assert.match(await add(page, 'pine'), /^pine was added: [1-9]\d* cells changed/);
    assert.match(await tell(page, 'pine', 'Remove'), /^pine was removed: [1-9]\d* cells changed/);
    assert.deepEqual(await values(page), made);
}));

// ---- Files --------------------------------------------------------------

const run = (args, input) => execFileSync(tamis, args, { input, encoding: 'utf8' });

test('images of the command line are opened', () => withPage({}, async page => {
    for (const kind of ['fuse', 'cuckoo', 'bloom']) {
        run(['build', '-k', kind, '-n', '20', '-o', 'made.tamis'], 'one\ntwo\nthree\n');
        await page.getByLabel('Open a word list').setInputFiles('made.tamis');
        await says(page, `made.tamis is open: 3 keys`);
        assert.equal(await page.getByLabel('Kind').inputValue(), kind);
        for (const word of ['one', 'two', 'three'])
            assert.match(await ask(page, word), /^Yes/);
    }
    await pick(page, 'xor');
    const bytes = readFileSync('made.tamis');
    bytes[280] ^= 1; // of the payload
    writeFileSync('torn.tamis', bytes);
    await page.getByLabel('Open a word list').setInputFiles('torn.tamis');
    await says(page, 'damaged');
    assert.match(await answer(page), /^the filter is damaged/);
}));

test('saved images are read by the command line', () => withPage({}, async page => {
    for (const kind of ['bloom', 'quotient', 'ribbon', 'countmin']) {
        await pick(page, kind);
        await add(page, `${kind}-word`);
        const [download] = await Promise.all(
            [page.waitForEvent('download'), press(page, 'Save image')]);
        assert.equal(download.suggestedFilename(), `${kind}.tamis`);
        await download.saveAs('saved.tamis');
        assert.equal(run(['verify', 'saved.tamis']), 'saved.tamis: ok\n');
        assert.equal(run(['query', 'saved.tamis'], `pear\n${kind}-word\n`), `pear\n${kind}-word\n`);
    }
}));

test('word lists are taken from a file or a drop', () => withPage({}, async page => {
    const words = Array.from({ length: 5000 }, (_, i) => `word${i}`);
    writeFileSync('words.txt', words.join('\n'));
    await page.getByLabel('Open a word list').setInputFiles('words.txt');
    await says(page, '5,000 words');
    assert.equal(await fact(page, 'Keys'), '5,000 of 5,000');
    assert.match(await ask(page, 'word4999'), /^Yes/);
    await page.evaluate(() => {
        const files = new DataTransfer();
        files.items.add(new File(['left\r\nright\n'], 'sides.txt'));
        document.querySelector('.play').dispatchEvent(
            new DragEvent('drop', { dataTransfer: files, cancelable: true }));
    });
    await says(page, '2 words');
    assert.match(await ask(page, 'right'), /^Yes/);
}));

// ---- Curves -------------------------------------------------------------

const isMeasured = page => says(page, 'Measured:');

test('sliders move the curves, which are measured',
    () => withPage({ hash: '#curves' }, async page => {
    await isMeasured(page);
    const predicted = await fact(page, 'Predicted rate');
    assert.ok(await page.locator('.dots circle').count() >= 14);
    assert.match(await fact(page, 'Measured rate'), /^[\d.]+ %$/);
    for (const [label, name] of [['Bits, m', 'm'], ['Keys, n', 'n'], ['Hash functions, k', 'k']]) {
        const slider = page.getByRole('slider', { name: label });
        await page.getByRole('radio', { name: label }).check();
        const old = await slider.inputValue();
        await slider.press('ArrowRight');
        assert.notEqual(await slider.inputValue(), old);
        await says(page, 'Measuring...');
        await isMeasured(page);
        assert.match(await page.locator('.chart .axis').textContent(), new RegExp(`, ${name}$`));
    }
    // A slider that moves while dots are measured starts them anew: the last dot is waited for.
    await page.locator('.dots circle').nth(19).waitFor();
    await isMeasured(page);
    assert.equal(await page.locator('.dots circle').count(), 20);
    assert.notEqual(await fact(page, 'Predicted rate'), predicted);
    assert.equal(await page.locator('.chart tbody tr').count(), 20);
}));

// ---- Tour ---------------------------------------------------------------

test('the tour is walked from start to end, and all of it is tried',
    () => withPage({ hash: '#tour' }, async page => {
    const stops = [];
    for (;;) {
        stops.push(await page.locator('.stop h1').innerText());
        for (const button of await page.locator('.try button').all()) {
            await button.click();
            assert.notEqual(await answer(page), '');
        }
        assert.deepEqual(await faults(page, false), [], stops.at(-1));
        const next = page.locator('.turn a[rel=next]');
        const isLast = await next.getAttribute('href') === '#play';
        await next.click();
        if (isLast)
            break;
        await page.waitForFunction(
            old => document.querySelector('.stop h1').innerText !== old, stops.at(-1));
        assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1');
    }
    assert.equal(stops.length, 11);
    await page.waitForSelector('.play');
}));

// ---- Everybody ----------------------------------------------------------

test('a keyboard is enough', () => withPage({}, async page => {
    const focused = () => page.evaluate(() => {
        const { activeElement: element } = document, style = getComputedStyle(element);
        const text = element.innerText || element.labels?.[0]?.innerText || '';
        return { text: text.trim(),
            isSeen: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
            isBody: element === document.body };
    });
    const seen = [];
    const to = async text => {
        for (let i = 0; i < 60; i++) {
            await page.keyboard.press('Tab');
            const now = await focused();
            if (!now.isBody) {
                seen.push(now.text);
                assert.ok(now.isSeen, `the focus on '${now.text}' cannot be seen`);
            }
            if (now.text === text)
                return;
        }
        assert.fail(`Tab does not reach '${text}', only ${seen.join(', ')}`);
    };
    await to('To the content');
    await page.keyboard.press('Enter');
    await to('A word');
    await page.keyboard.type('walnut');
    await page.keyboard.press('Enter');
    assert.match(await answer(page), /^walnut was added/);
    await to('Ask');
    await page.keyboard.press('Space');
    assert.match(await answer(page), /^Yes, walnut/);
    await to('Remove'); // then the picture: one stop for all cells
    await page.keyboard.press('Tab');
    const place = () =>
        page.evaluate(() => document.activeElement.querySelector('.spoken').innerText);
    const first = await place();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    assert.match(first, /^place 0 of/);
    assert.notEqual(await place(), first);
    assert.match(await page.locator('.detail').innerText(), /^place \d+ of/);
    await page.keyboard.press('End');
    assert.match(await place(), /^place 63 of/);
    await to('Save image');
    await to('Open a word list or a .tamis image');
    await to('To the content'); // round and round: there is no trap
}));

test('nothing is wider than a phone, in any view', () => withPage({ width: 390 }, async page => {
    await go(page, '#tour');
    const links = page.locator('.stops a');
    const stops = await links.evaluateAll(all => all.map(({ hash }) => hash));
    for (const hash of [...stops, '#curves', '#play']) {
        await go(page, hash);
        assert.ok(!await isWiderThanScreen(page), `${hash} is too wide`);
    }
    for (const kind of await kindsOf(page)) {
        await pick(page, kind);
        assert.ok(!await isWiderThanScreen(page), `${kind} is too wide`);
    }
}));

// The other two pictures, of what these show, are made in long runs.
const LOOKS = [['light', 1280, true], ['dark', 390, true]];
if (process.env.TAMIS_LONG)
    LOOKS.push(['light', 390, false], ['dark', 1280, false]);

for (const [colorScheme, width, looksForFaults] of LOOKS)
    test(`pictures of each view, ${colorScheme}, ${width} wide`, () =>
        withPage({ colorScheme, width }, async page => {
            const look = async name => {
                const path = join(pictures, `${name}-${width}-${colorScheme}.png`);
                await page.screenshot({ path, fullPage: true });
                if (looksForFaults)
                    assert.deepEqual(await faults(page), [], name);
            };
            await ask(page, 'pear');
            await look('play');
            await go(page, '#tour/xor');
            await press(page, 'Peel it, step by step');
            await press(page, 'Back');
            await look('tour');
            await go(page, '#curves');
            await isMeasured(page);
            await look('curves');
        }));

test('light and dark follow the system, or the button',
    () => withPage({ colorScheme: 'dark' }, async page => {
    const brightness = () => page.evaluate(() => {
        const { backgroundColor } = getComputedStyle(document.documentElement);
        return backgroundColor.match(/\d+/g).map(Number).reduce((a, b) => a + b);
    });
    assert.ok(await brightness() < 150);
    await page.emulateMedia({ colorScheme: 'light' });
    assert.ok(await brightness() > 600);
    await press(page, 'Theme: auto');
    await press(page, 'Theme: light');
    assert.ok(await brightness() < 150);
    await open(page);
    assert.ok(await brightness() < 150, 'it is not remembered');
}));

test('where motion is welcome, steps are played',
    () => withPage({ reducedMotion: 'no-preference' }, async page => {
    await page.clock.install();
    await add(page, 'fig');
    assert.ok(await page.locator('.cell.written').count() > 0);
    const where = () => page.locator('.where').innerText();
    assert.match(await where(), /^Step 1 of/);
    await page.clock.runFor(7000);
    const [, now, all] = /Step (\d+) of (\d+)/.exec(await where());
    assert.equal(now, all);
    assert.equal(await page.getByRole('button', { name: 'Play', exact: true }).count(), 1);
}));
