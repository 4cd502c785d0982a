/* words.js - numbers and places as people read them. */
import { h } from './dom.js';

/** 3 of 'key' is '3 keys'. */
export const plural = (n, thing) => `${n.toLocaleString('en')} ${thing}${n === 1 ? '' : 's'}`;

export function percent(rate) {
    if (rate === 0)
        return '0 %';
    if (rate < 1e-5)
        return rate.toExponential(1);
    return `${Number((100 * rate).toPrecision(3))} %`;
}

const DECIMAL = 1000000n; // from here on, digits say less than hexadecimal ones

const numeral = number => (number < DECIMAL ? String(number) : `0x${number.toString(16)}`);

/** As it stands in a cell, and cut where that would be too wide. */
export const valueText = ({ value }) => numeral(BigInt(value));

export function shortText(cell) {
    const text = valueText(cell);
    return text.length > 8 ? `${text.slice(0, 6)}…` : text;
}

/** A number that was worked out for a key. */
export const numberText = (name, value) => (name === 'hash'
    ? `0x${BigInt(value).toString(16).padStart(16, '0')}` : numeral(BigInt(value)));

/** 'row 2', or 'bits' if there is one array of that name: isOnly. A cell that is alone in its array
 * has no place to speak of: isAlone. */
export const arrayText = cell => (cell.isOnly ? cell.array : `${cell.array} ${cell.number}`);

export const placeText = cell =>
    (cell.isAlone ? arrayText(cell) : `place ${cell.index} of ${arrayText(cell)}`);

/** Names and values, for a <dl>. */
export const factList = facts => Object.entries(facts).map(([name, value]) =>
    h('div', {}, h('dt', {}, name), h('dd', {}, value)));

/** What a cell is marked with: name, letter below the cell, meaning. */
export const MARKS = [
    ['occupied', 'o', 'some key is at home in this place'],
    ['continuation', 'c', 'continues the run of the cell before'],
    ['shifted', 's', 'was pushed away from its home'],
    ['run-end', 'e', 'the last cell of its run'],
    ['count', '#', 'part of a count, not of a key'],
    ['extension', '+', 'more bits of the key before, to tell it from another'],
    ['void', 'v', 'no bits are left: it passes for any key of the place'],
];

export function cellText(cell) {
    const marks = cell.marks.filter(mark => mark !== 'empty');
    return `${placeText(cell)}: ${cell.marks.includes('empty') ? 'empty' : valueText(cell)}` +
        (marks.length ? ` (${marks.join(', ')})` : '');
}
