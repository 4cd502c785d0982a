/* picture.js - a filter's cells as a picture that can be read, walked through with the arrow keys,
 * and unfolded as a table. It knows of cells and of no kind: what there is, the library tells. */
import { h, rove, tableOf } from './dom.js';
import { MARKS, arrayText, cellText, shortText, valueText } from './words.js';

const WITH_PLACES = 128; // cells whose places are written below them
const WITH_DIGITS = 320; // cells large enough to read
const SHORT = 12; // cells of an array that stands beside others

export const idOf = cell => `${cell.array}/${cell.number}/${cell.index}`;
const isEmpty = cell => cell.marks.includes('empty');

const isSame = (a, b) => a && a.value === b.value && a.marks.join() === b.marks.join();

/** Runs of cells that are one array. */
function arraysOf(cells) {
    const arrays = [];
    for (const cell of cells) {
        const last = arrays.at(-1);
        if (last && last.name === cell.array && last.number === cell.number)
            last.cells.push(cell);
        else
            arrays.push({ name: cell.array, number: cell.number, cells: [cell] });
    }
    return arrays;
}

/** Two filters with the same shape are drawn with the same elements, so that changes move. */
const shapeOf = arrays =>
    arrays.map(({ name, number, cells }) => `${name}/${number}:${cells.length}`).join();

/** Value, marks and place for the eye, and a sentence for the ear. */
function cellElement(cell) {
    const seen = (name, text = '') => h('span', { class: name, 'aria-hidden': 'true' }, text);
    const size = cell.bits === 1 ? 'bit' : 'number';
    return h('span', { class: `cell ${size}`, role: 'gridcell', tabindex: '-1' },
        seen('value'), seen('marks'), seen('place', cell.isAlone ? '' : String(cell.index)),
        h('span', { class: 'spoken' }));
}

export class Picture {
    #cells = [];
    #byId = new Map(); // to the element
    #read = new Set(); // elements that are marked so
    #shape = '';
    #note = ''; // where no cell is pointed at
    #marks = new Map(); // from names of arrays to those in use there
    #grid = h('div', { class: 'cells', role: 'grid' });
    #rover = rove(this.#grid, '.cell');
    #detail = h('p', { class: 'detail', 'aria-hidden': 'true' });
    #legend = h('p', { class: 'legend' });
    #table = h('details', { class: 'table', ontoggle: () => this.#fillTable() },
        h('summary', {}, 'The cells as a table'));

    element = h('div', { class: 'picture' }, this.#grid, this.#detail, this.#legend, this.#table);

    constructor() {
        const point = ({ target }) => this.#tellCell(target.closest('.cell'));
        this.#grid.addEventListener('mouseover', point);
        this.#grid.addEventListener('focusin', point);
        this.#grid.addEventListener('mouseleave', () => this.#tellCell(null));
    }

    /** Draws cells. Returns the ids of those that are not as they were before. */
    show(cells, name, note) {
        const before = new Map(this.#cells.map(cell => [idOf(cell), cell]));
        this.#draw(cells);
        this.#cells = cells;
        this.#describe(name);
        this.#note = note;
        this.#tellCell(null);
        this.#fillTable();
        return cells.map(idOf).filter((id, i) => !isSame(before.get(id), cells[i]));
    }

    #draw(cells) {
        const arrays = arraysOf(cells), shape = shapeOf(arrays);
        if (shape !== this.#shape) {
            this.#shape = shape;
            this.#marks.clear();
            this.#byId.clear();
            this.#read.clear();
            this.#grid.replaceChildren(...this.#groups(arrays, cells.length));
            this.#rover.refresh();
        }
        const before = this.#countMarks();
        this.#findMarks(cells);
        const hasNewMarks = this.#countMarks() !== before;
        for (const cell of cells) {
            const element = this.#byId.get(idOf(cell));
            if (hasNewMarks || !isSame(element.cell, cell))
                this.#paint(element, cell);
        }
    }

    /** A mark that was seen in an array keeps its place below the cells. */
    #findMarks(cells) {
        for (const cell of cells) {
            if (!this.#marks.has(cell.array))
                this.#marks.set(cell.array, new Set());
            cell.marks.forEach(mark => mark === 'empty' || this.#marks.get(cell.array).add(mark));
        }
    }

    #countMarks() {
        return [...this.#marks.values()].reduce((n, used) => n + used.size, 0);
    }

    #marksOf(name) {
        return MARKS.filter(([mark]) => this.#marks.get(name).has(mark));
    }

    /** Short arrays stand side by side, long ones below each other. */
    #groups(arrays, n) {
        const groups = [];
        for (const array of arrays) {
            const isShort = array.cells.length <= SHORT;
            if (groups.at(-1)?.isShort === isShort)
                groups.at(-1).arrays.push(array);
            else
                groups.push({ isShort, arrays: [array] });
        }
        const size = n > WITH_DIGITS ? 'dense' : n > WITH_PLACES ? 'close' : '';
        return groups.map(group => h('div', {
            role: 'rowgroup', class: `group ${group.isShort ? 'beside' : ''} ${size}`,
        }, group.arrays.map(array => this.#array(array))));
    }

    #array(array) {
        const cells = array.cells.map(cell => {
            const element = cellElement(cell);
            this.#byId.set(idOf(cell), element);
            return element;
        });
        return h('div', { class: 'array', role: 'row' },
            h('span', { class: 'array-name', role: 'rowheader' }, arrayText(array.cells[0])),
            h('span', { class: 'array-cells', role: 'presentation' }, cells));
    }

    #paint(element, cell) {
        const [value, marks, , spoken] = element.children;
        element.cell = cell;
        element.classList.toggle('empty', isEmpty(cell));
        element.classList.toggle('zero', !isEmpty(cell) && BigInt(cell.value) === 0n);
        element.classList.toggle('end', cell.marks.includes('run-end'));
        spoken.textContent = cellText(cell);
        value.textContent = isEmpty(cell) ? '' : shortText(cell);
        marks.classList.toggle('none', cell.marks.join() === 'empty');
        marks.replaceChildren(...this.#marksOf(cell.array).map(([mark, letter]) =>
            h('i', { class: cell.marks.includes(mark) ? 'on' : '' }, letter)));
    }

    #describe(name) {
        const n = this.#cells.length, empty = this.#cells.filter(isEmpty).length;
        const set = this.#cells.filter(cell => !isEmpty(cell) && BigInt(cell.value) !== 0n).length;
        this.#grid.setAttribute('aria-label', `Cells of ${name}: ${n}, of which ${set} are not ` +
            `zero${empty ? ` and ${empty} are empty` : ''}`);
        const used = [...this.#marks.values()];
        const marks = MARKS.filter(([mark]) => used.some(marksOfArray => marksOfArray.has(mark)));
        this.#legend.replaceChildren(...marks.map(([, letter, meaning]) =>
            h('span', {}, h('b', {}, letter), ` ${meaning}`)));
        this.#legend.hidden = !marks.length;
    }

    #tellCell(element) {
        this.#detail.textContent = element ? element.lastChild.textContent : this.#note;
    }

    #fillTable() {
        this.#table.querySelector('div')?.remove();
        if (!this.#table.open)
            return;
        const row = cell => [cell.array, cell.number, cell.index,
            isEmpty(cell) ? 'empty' : valueText(cell), cell.bits,
            cell.marks.filter(mark => mark !== 'empty').join(', ')];
        this.#table.append(tableOf('Table of cells',
            ['array', 'number', 'place', 'value', 'bits', 'marks'], this.#cells.map(row)));
    }

    /** Marks cells as read; each is { cell, says, agrees }, the last one read last. */
    mark(reads) {
        for (const element of this.#read)
            this.#unmark(element);
        this.#read.clear();
        for (const { cell, says, agrees } of reads) {
            const element = this.#byId.get(idOf(cell));
            if (!element)
                continue;
            this.#read.add(element);
            element.classList.add('read');
            element.classList.toggle('against', !agrees);
            element.lastChild.textContent = `${cellText(element.cell)}, ${says}`;
        }
        if (reads.length)
            this.#byId.get(idOf(reads.at(-1).cell))?.classList.add('now');
    }

    #unmark(element) {
        element.classList.remove('read', 'against', 'now');
        element.lastChild.textContent = cellText(element.cell);
    }

    /** Lets written cells be seen, one after the other; those before are written no more. */
    write(ids) {
        for (const element of this.#grid.querySelectorAll('.written'))
            element.classList.remove('written');
        ids.forEach((id, i) => {
            const element = this.#byId.get(id);
            element?.style.setProperty('--order', Math.min(i, 24));
            element?.classList.add('written');
        });
    }
}
