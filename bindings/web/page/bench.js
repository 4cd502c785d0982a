/* bench.js - a live filter: words go in and out, its cells are drawn, its answers explained. The
 * workbench has one, and so has each stop of the tour. */
import { button, field, h, rove } from './dom.js';
import { Picture, idOf } from './picture.js';
import { Story, peelText, stepText } from './story.js';
import { peelReads, peeledCells } from './peeling.js';
import { plural } from './words.js';

const DRAWN = 1500; // cells; more are no picture
const LISTED = 60; // words that are shown, or peeled
const TRIES = 200000; // strangers that are tried for a false positive, so many at a time
const BATCH = 2000;

const SYLLABLES = 'ba co de fi go hu ka le mi no pu ra so te vi zu'.split(' ');

/** Words that nobody typed: stranger i is the same every time. */
export function stranger(i) {
    let word = '';
    for (let rest = i + 4096; rest > 0; rest = Math.floor(rest / 16))
        word += SYLLABLES[rest % 16];
    return word;
}

/** A step that reads a cell, for the picture. */
const stepRead = ({ cell, text, agrees }) =>
    ({ cell, agrees, says: `read as ${text}, ${agrees ? 'for' : 'against'} the key` });

export class Bench {
    #library;
    #abilities; // of each kind
    #filter = null;
    #isKnown = true; // the words are all that the filter was given
    #picture = new Picture();
    #story = new Story();
    #cells = []; // of the filter
    #input = h('input',
        { type: 'text', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' });
    #label = field('A word', this.#input);
    #answer = h('p', { class: 'answer', role: 'status' });
    #more = h('div', { class: 'more' });
    #chips = h('div',
        { class: 'chips', role: 'toolbar', 'aria-label': 'Words added: press one to ask for it' });
    #rover = rove(this.#chips, 'button');
    #held = h('p', { class: 'held' });
    #isCut = false; // there are more cells than are drawn
    #numbered = new Set(); // names that several arrays have
    #long = new Set(); // names of arrays of more than one cell
    #asked = null; // the last word asked for

    /** What is planned. */
    options = { kind: 'bloom', keys: 8, fpr: 0.05 };
    /** Words with how often each was added and, in maps, its value. */
    words = new Map();
    /** Strangers that are certain to be refused, in kinds that can. */
    excluded = [];
    /** Called when the filter has changed. */
    onChange = () => {};

    constructor(library) {
        this.#library = library;
        this.#abilities = new Map(library.kinds().map(kind => [kind.name, kind.abilities]));
        const act = does => event => {
            event.preventDefault();
            this.attempt(does);
        };
        const form = h('form', { class: 'ask', onsubmit: act(() => this.add(this.#typed())) },
            this.#label,
            h('div', { class: 'buttons' },
                h('button', { type: 'submit', class: 'main' }, 'Add'),
                button('Ask', act(() => this.ask(this.#typed()))),
                button('Remove', act(() => this.remove(this.#typed())))));
        this.element = h('div', { class: 'bench' },
            form, this.#answer, this.#more, this.#picture.element,
            h('div', { class: 'words' }, this.#held, this.#chips), this.#story.element);
    }

    get filter() {
        return this.#filter;
    }

    get isKnown() {
        return this.#isKnown;
    }

    can(ability) {
        return this.#abilities.get(this.options.kind).includes(ability);
    }

    #typed() {
        const word = this.#input.value.trim();
        if (!word)
            throw new RangeError(`Type a ${this.can('indexed') ? 'number' : 'word'} first.`);
        this.#input.select();
        return word;
    }

    /** Runs what may be refused, and says so in the words of whoever refused. */
    attempt(does) {
        try {
            does();
        } catch (error) {
            if (!(error instanceof this.#library.TamisError) && !(error instanceof RangeError))
                throw error;
            this.say(h('span', { class: 'error' }, error.message));
        }
    }

    say(...parts) {
        this.#answer.replaceChildren(...parts);
        this.#more.replaceChildren();
    }

    // ---- Making ----------------------------------------------------------

    /** A filter of these options with the words there are. Nothing changes if it is refused. */
    make(options = this.options) {
        this.#replace(options);
        this.refresh();
    }

    #replace(options) {
        const before = this.options;
        this.options = options;
        if (!this.can('indexed'))
            this.options = { ...options, keys: Math.max(options.keys, this.words.size) };
        try {
            this.#take(this.#made());
        } catch (error) {
            this.options = before;
            throw error;
        }
        this.#isKnown = true;
        this.#label.firstChild.textContent = this.can('indexed') ? 'A number' :
            this.can('get') ? 'A word, or word=value' : 'A word';
        this.#input.inputMode = this.can('indexed') ? 'numeric' : 'text';
    }

    #made() {
        const { Filter } = this.#library;
        if (this.#takesOne())
            return this.#filled(new Filter(this.options));
        if (this.can('get'))
            return Filter.build({ valueBits: 8, ...this.options },
                [...this.words].map(([word, { value }]) => [word, value]));
        if (this.can('exclude'))
            return Filter.build({ ...this.options, exclude: this.excluded,
                universe: this.options.keys + this.excluded.length }, this.words.keys());
        return Filter.build(this.options, this.words.keys());
    }

    #filled(filter) {
        for (const [word, { times, value }] of this.words)
            for (let i = 0; i < times; i++)
                this.#put(filter, word, value);
        return filter;
    }

    /** Others are made from all their words at once. */
    #takesOne() {
        return this.can('add') || this.can('put');
    }

    #put(filter, word, value) {
        if (this.can('put'))
            filter.put(word, value);
        else
            filter.add(word);
    }

    #take(filter) {
        this.#filter?.free();
        this.#filter = filter;
    }

    /** From the bytes of an image; words are not in it. */
    open(bytes) {
        const filter = this.#library.Filter.fromBytes(bytes);
        const { kind, capacity, fpr } = filter.plan();
        this.words.clear();
        this.options = { kind, keys: capacity, fpr };
        this.#isKnown = false;
        this.#take(filter);
        this.refresh();
    }

    /** All words at once, in place of those there were. */
    fill(words) {
        const before = this.words;
        this.words = new Map(words.map(word => [word, { times: 1, value: 1 }]));
        try {
            this.make({ ...this.options, keys: Math.max(1, this.words.size) });
        } catch (error) {
            this.words = before;
            throw error;
        }
    }

    /** Draws what the filter holds now, and returns which cells are new. */
    refresh() {
        const cells = this.#cellsNow();
        this.#isCut = cells.length > DRAWN;
        this.#numbered = new Set(cells.filter(cell => cell.number).map(cell => cell.array));
        this.#long = new Set(cells.filter(cell => cell.index).map(cell => cell.array));
        this.#cells = cells.slice(0, DRAWN).map(cell => this.#named(cell));
        const written = this.#draw(this.#cells);
        this.#picture.mark([]);
        this.#story.clear();
        this.#list();
        this.onChange();
        return written;
    }

    #draw(cells, note = this.#isCut ? `The first ${plural(DRAWN, 'cell')} are drawn.` : '') {
        return this.#picture.show(cells, `the ${this.options.kind} filter`, note);
    }

    /** Of a large filter, the cells that a key reads. */
    #drawRead(steps, word) {
        const read = new Map(steps.filter(step => step.cell).map(({ cell }) => [idOf(cell), cell]));
        const arrays = [...read.values()].map(cell => cell.array);
        const inOrder = (a, b) => arrays.indexOf(a.array) - arrays.indexOf(b.array) ||
            a.number - b.number || a.index - b.index;
        this.#draw([...read.values()].sort(inOrder), `The cells that ${word} reads are drawn.`);
    }

    /** None in kinds that show none. */
    #cellsNow() {
        try {
            return this.#filter.cells(DRAWN + 1);
        } catch (error) {
            if (error.code !== 'CANNOT')
                throw error;
            return [];
        }
    }

    #named(cell) {
        return Object.assign(cell,
            { isOnly: !this.#numbered.has(cell.array), isAlone: !this.#long.has(cell.array) });
    }

    /** Tells why the filter answers as it does, and returns the answer. */
    #explain(title, word) {
        const steps = this.#filter.explain(word);
        steps.filter(step => step.cell).forEach(step => this.#named(step.cell));
        if (this.#isCut)
            this.#drawRead(steps, word);
        this.#story.tell(title(steps.at(-1)), steps, stepText,
            soFar => this.#picture.mark(soFar.filter(({ type }) => type === 'cell').map(stepRead)));
        return steps.at(-1);
    }

    // ---- Peeling ---------------------------------------------------------

    get canPeel() {
        try {
            this.#filter.peeling([]);
            return this.#isKnown && this.words.size <= LISTED;
        } catch {
            return false;
        }
    }

    /** How the filter was made of its words, step by step. */
    peel() {
        const steps = this.#filter.peeling([...this.words.keys()]);
        steps.forEach(step => step.cells.forEach(cell => this.#named(cell)));
        this.#picture.write([]);
        const title = `How the filter was made of ${plural(this.words.size, 'word')}`;
        this.#story.tell(title, steps, peelText, soFar => {
            this.#draw(peeledCells(this.#cells, soFar));
            this.#picture.mark(peelReads(soFar));
        });
        this.say('Cells show how many words touch them; ', h('b', {}, 'a 1 can be owned'),
            '. When all words are gone, the cells are filled, the last word first.');
    }

    #heldText(n) {
        if (!this.#isKnown)
            return 'This filter came from a file, which does not hold the words.';
        if (n === 0)
            return 'No words in it yet.';
        return `${plural(n, 'word')} in it${n > LISTED ? `, of which these are ${LISTED}` : ''}:`;
    }

    #list() {
        const words = [...this.words];
        this.#held.textContent = this.#heldText(words.length);
        this.#chips.replaceChildren(...words.slice(0, LISTED).map(([word, { times, value }]) =>
            button(word + (this.can('get') ? ` = ${value}` : times > 1 ? ` × ${times}` : ''),
                () => this.attempt(() => this.ask(word)))));
        this.#rover.refresh();
    }

    // ---- Words -----------------------------------------------------------

    /** "word=7" in kinds that hold values. */
    #entry(text) {
        const [, word, value] = this.can('get') && /^(.*)=(\d+)$/.exec(text) || [null, text, 1];
        return [word, Number(value)];
    }

    add(text) {
        const [word, value] = this.#entry(text), old = this.words.get(word);
        if (this.#takesOne() || !this.#isKnown) // the words of a file are known to its maker only
            this.#put(this.#filter, word, value);
        this.words.set(word, { times: this.can('add') ? (old?.times ?? 0) + 1 : 1, value });
        if (!this.#takesOne())
            this.#again(() => (old ? this.words.set(word, old) : this.words.delete(word)));
        this.#changed(`${word} was added`, `Why ${word} is found now`, word);
    }

    remove(word) {
        const old = this.words.get(word);
        if (this.#takesOne() || !this.#isKnown ? !this.#filter.remove(word) : !old) {
            this.say(h('b', {}, word), ' was not removed: the key is not in the filter.');
            return;
        }
        if (old && old.times > 1)
            this.words.set(word, { ...old, times: old.times - 1 });
        else
            this.words.delete(word);
        if (!this.#takesOne())
            this.#again(() => this.words.set(word, old));
        this.#changed(`${word} was removed`, `What the filter says of ${word} now`, word);
    }

    /** Static kinds are made again; if that is refused, the words are as before. */
    #again(undo) {
        try {
            this.#replace(this.options);
        } catch (error) {
            undo();
            throw error;
        }
    }

    #changed(what, title, word) {
        const written = this.refresh();
        this.#explain(() => title, word);
        this.#picture.write(written);
        this.#sayChanged(what, written);
    }

    #sayChanged(what, written) {
        if (this.#isCut)
            this.say(`${what}.`);
        else
            this.say(`${what}: `, h('b', {}, `${plural(written.length, 'cell')} changed`), '.');
    }

    /** Asks, explains, and says whether the filter is right. */
    ask(word) {
        this.#asked = word;
        this.#draw(this.#cells);
        this.#picture.write([]);
        const answer = this.#explain(
            ({ value }) => `Why the filter says ${value ? 'yes' : 'no'} to ${word}`, word);
        this.say(h('b', {}, answer.value ? 'Yes' : 'No'),
            `, ${word} ${answer.value ? 'is found' : 'is not there'}: ${answer.text}.` +
            `${this.#counts(word, answer)} ${this.#truth(word, answer)}`);
        if (this.#isKnown && answer.value && !this.words.has(word) && this.can('adapt'))
            this.#more.append(button('Tell the filter that it is wrong',
                () => this.attempt(() => this.adapt(word))));
    }

    #counts(word, answer) {
        if (!answer.value)
            return '';
        if (this.can('get'))
            return ` Its value is ${this.#filter.get(word)}.`;
        return this.can('count') ? ` It counts ${this.#filter.count(word)}.` : '';
    }

    #truth(word, answer) {
        if (!answer.value)
            return this.words.has(word) ? 'It was added, and the filter has forgotten it.'
                : 'That is certain.';
        if (!this.#isKnown)
            return '';
        return this.words.has(word) ? 'It was added.' : 'It never was: a false positive.';
    }

    adapt(word) {
        this.#filter.adapt(word);
        this.#changed(`${word} was taken back`, `What the filter says of ${word} now`, word);
    }

    /** The oldest words are forgotten. */
    rotate() {
        this.#filter.rotate();
        const written = this.refresh();
        this.#picture.write(written);
        this.#sayChanged('A new generation begins', written);
    }

    /** What is known to be wrong is told to the filter. */
    tellWrong() {
        if (this.#asked === null || this.words.has(this.#asked) || !this.#filter.has(this.#asked))
            throw new RangeError('Find a false positive first.');
        this.adapt(this.#asked);
    }

    askAgain() {
        if (this.#asked === null)
            throw new RangeError('Ask for a word first.');
        this.ask(this.#asked);
    }

    /** Where a stranger is found, or -1. */
    #firstFound() {
        for (let from = 0; from < TRIES; from += BATCH) {
            const words = Array.from({ length: BATCH }, (_, i) => stranger(from + i));
            const found = this.#filter.hasMany(words);
            const at = words.findIndex((word, i) => found[i] && !this.words.has(word));
            if (at >= 0)
                return from + at;
        }
        return -1;
    }

    /** A word that was never added and is found all the same. */
    findFalsePositive() {
        const at = this.can('indexed') ? -1 : this.#firstFound();
        if (at < 0) {
            this.say(this.can('exact') ? 'There are none: this kind keeps the keys themselves.'
                : `None of ${plural(TRIES, 'stranger')} was found.`);
            return;
        }
        this.#input.value = stranger(at);
        this.ask(stranger(at));
        this.#more.append(h('span', {}, `Stranger number ${at + 1} was the first to pass.`));
    }
}
