import type { Column, Columns } from '../../lists/column.js';
import { isNarrow } from '../live/screen.js';
import { changeQuery, route } from './router.js';
import { Icon } from './icon.js';

type Direction = NonNullable<Column<never>['firstOrder']>;

interface Order<T> {
  readonly name: string;
  readonly value: Column<T>['value'];
  readonly direction: Direction;
}

/** Characters of a title, such as the name of a node, that the style sheet may cut. */
const LONG_TITLE = 12;

/** The order that the address asks for: `sort=next`, or `sort=-next` for the reverse. Undefined: the list's own. */
function orderOf<T>(columns: Columns<T>): Order<T> | undefined {
  const asked = route.value.query.get('sort') ?? '';
  const name = asked.replace(/^-/, '');
  const column = Object.hasOwn(columns, name) ? columns[name]! : undefined;
  return column?.firstOrder && { name, value: column.value, direction: asked === name ? 'ascending' : 'descending' };
}

/** Sorts all rows in the order of the address. Equal rows keep their order, as all rows do if it asks for none. */
export function sorted<T>(rows: readonly T[], columns: Columns<T>): readonly T[] {
  const order = orderOf(columns);
  if (!order) return rows;
  const { value: valueOf, direction } = order;
  const sign = direction === 'ascending' ? 1 : -1;
  const keyed = rows.map((row) => ({ row, value: valueOf(row) }));
  return keyed.toSorted((one, other) => compare(one.value, other.value, sign)).map(({ row }) => row);
}

type Value = string | number | undefined;

function compare(one: Value, other: Value, sign: 1 | -1): number {
  if (one === other) return 0;
  if (one === undefined) return 1;
  if (other === undefined) return -1;
  return one < other ? -sign : sign;
}

/**
 * The heads of the columns. Those that can sort the list are buttons; the order is kept in the address. On a narrow screen only
 * screen readers get them, and {@link SortChoice} takes the place of the buttons.
 */
export function Heads<T>({ columns }: { readonly columns: Columns<T> }) {
  const order = orderOf(columns);
  return (
    <>
      {Object.entries(columns).map(([name, column]) => (
        <Head
          key={name}
          column={column}
          direction={order?.name === name ? order.direction : undefined}
          onSort={(direction) => changeQuery({ sort: inAddress(name, direction) })}
        />
      ))}
    </>
  );
}

function inAddress(name: string, direction: Direction): string {
  return direction === 'ascending' ? name : `-${name}`;
}

/** The orders of a list whose rows are cards: heads in a line above them would read as one text. */
export function SortChoice<T>({ columns }: { readonly columns: Columns<T> }) {
  if (!isNarrow.value) return null;
  const order = orderOf(columns);
  const chosen = order && inAddress(order.name, order.direction);
  const options = Object.entries(columns).flatMap(([name, { title, firstOrder }]) =>
    firstOrder
      ? [firstOrder, REVERSE[firstOrder]].map(
          (direction) => [inAddress(name, direction), `${title}, ${direction}`] as const,
        )
      : [],
  );
  if (options.length === 0) return null;
  return (
    <label class="sort-choice">
      Order
      <select onChange={({ currentTarget }) => changeQuery({ sort: currentTarget.value })}>
        <option value="" selected={chosen === undefined}>
          usual
        </option>
        {options.map(([value, label]) => (
          <option key={value} value={value} selected={value === chosen}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

interface HeadProps<T> {
  readonly column: Column<T>;
  /** Undefined: the list is sorted by another column. */
  readonly direction: Direction | undefined;
  readonly onSort: (direction: Direction) => void;
}

function Head<T>({ column: { title, firstOrder }, direction, onSort }: HeadProps<T>) {
  if (!firstOrder || isNarrow.value)
    return (
      <th role="columnheader" scope="col" aria-sort={direction} title={title.length > LONG_TITLE ? title : undefined}>
        {title}
      </th>
    );
  const next = direction === undefined ? firstOrder : REVERSE[direction];
  return (
    <th role="columnheader" scope="col" aria-sort={direction}>
      <button type="button" class="sort" title={`Sort by ${title.toLowerCase()}, ${next}`} onClick={() => onSort(next)}>
        {title}
        {direction && <Icon name={direction === 'ascending' ? 'up' : 'down'} />}
      </button>
    </th>
  );
}

const REVERSE: Readonly<Record<Direction, Direction>> = { ascending: 'descending', descending: 'ascending' };
