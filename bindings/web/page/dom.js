/* dom.js - the few things that every part of the page does with elements. */

let made = 0;

/** A name that no other element has. */
export const uniqueId = what => `${what}-${++made}`;

/** h('p', { class: 'x', onclick: f }, 'text', element): properties that are functions listen,
 * `true` sets an attribute, false, null and undefined leave it out. */
export function h(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties))
        if (typeof value === 'function')
            element.addEventListener(name.slice(2), value);
        else if (value !== false && value !== null && value !== undefined)
            element.setAttribute(name, value === true ? '' : value);
    element.append(...children.flat().filter(child => child !== null && child !== undefined));
    return element;
}

/** The same for drawings. */
export function s(tag, properties = {}, ...children) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(properties))
        element.setAttribute(name, value);
    element.append(...children);
    return element;
}

/** A label and its control, one below the other. */
export function field(label, control, ...more) {
    control.id ||= uniqueId('field');
    return h('div', { class: 'field' }, h('label', { for: control.id }, label), control, ...more);
}

/** The same for a slider, with what it stands at. */
export function slid(label, control, output) {
    const made = field(label, control);
    output.htmlFor = control.id;
    made.prepend(h('div', { class: 'stands' }, made.firstChild, output));
    return made;
}

/** A table in a region of its own, which can be scrolled. */
export function tableOf(name, heads, rows) {
    const rowOf = row => h('tr', {}, row.map(text => h('td', {}, String(text))));
    return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': name },
        h('table', {},
            h('thead', {}, h('tr', {}, heads.map(head => h('th', { scope: 'col' }, head)))),
            h('tbody', {}, rows.map(rowOf))));
}

export const button = (text, act, properties = {}) =>
    h('button', { type: 'button', onclick: act, ...properties }, text);

export const prefersStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** One place of a group is reached by Tab, the others from it by the arrow keys, Home and End. */
export function rove(group, selector) {
    const all = () => [...group.querySelectorAll(selector)];

    function go(to) {
        for (const element of all())
            element.tabIndex = element === to ? 0 : -1;
        to.focus();
    }

    function below(list, from, way) {
        const here = from.getBoundingClientRect();
        const lines = list.filter(element => {
            const there = element.getBoundingClientRect();
            return way > 0 ? there.top > here.bottom - 2 : there.bottom < here.top + 2;
        });
        const distance = element => {
            const there = element.getBoundingClientRect();
            return 8 * Math.abs(there.top - here.top) + Math.abs(there.left - here.left);
        };
        return lines.reduce((best, element) =>
            (!best || distance(element) < distance(best) ? element : best), null);
    }

    group.addEventListener('keydown', event => {
        const list = all(), at = list.indexOf(event.target);
        if (at < 0 || event.altKey || event.ctrlKey || event.metaKey)
            return;
        const to = {
            ArrowRight: () => list[at + 1],
            ArrowLeft: () => list[at - 1],
            ArrowDown: () => below(list, event.target, 1),
            ArrowUp: () => below(list, event.target, -1),
            Home: () => list[0],
            End: () => list.at(-1),
        }[event.key]?.();
        if (!to)
            return;
        event.preventDefault();
        go(to);
    });
    group.addEventListener('focusin', event => {
        const to = event.target.closest(selector);
        if (to)
            for (const element of all())
                element.tabIndex = element === to ? 0 : -1;
    });
    return {
        /** After the elements have changed. */
        refresh() {
            const list = all();
            const current = list.find(element => element.tabIndex === 0) ?? list[0];
            for (const element of list)
                element.tabIndex = element === current ? 0 : -1;
        },
    };
}
