import type { ComponentChildren } from 'preact'
import { useSignal } from '../page-data.ts'
import { formatNumber, sanitize } from '../page-format.ts'
import { sanitizeNode } from './basics.tsx'

/** A column of a table. */
export interface Column<Row> {
  name: string
  /** Returns a cell's content. Strings are treated as untrusted: they are escaped and truncated. */
  cell: (row: Row) => ComponentChildren
  /** Makes the column sortable. Set a function that returns a row's value. If rows are sorted elsewhere, set the column's name in `order`. */
  by?: string | ((row: Row) => string | number)
  isNumber?: boolean
}

type TableProps<Row> = {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  getKey: (row: Row) => string
  /** The text to show if there are no rows. */
  empty?: string
  /** The order of rows that are sorted elsewhere: a column's `by`, followed by `asc` or `desc`. */
  order?: { value: string }
  /** A row of totals, with one cell per column. */
  totals?: readonly ComponentChildren[]
}

/** Renders a table with a caption and sortable columns. Shows 200 rows at a time. */
export function Table<Row>({ caption, columns, rows, getKey, empty = 'No results.', order, totals }: TableProps<Row>) {
  const sort = useSignal<{ at: number; isDown: boolean } | undefined>(undefined)
  const most = useSignal(PAGE_SIZE)
  const sortColumn = sort.value && columns[sort.value.at]?.by
  const sorted =
    typeof sortColumn === 'function'
      ? [...rows].sort((a, b) => compare(sortColumn(a), sortColumn(b)) * (sort.value?.isDown ? -1 : 1))
      : rows

  const [ordered, direction] = order?.value.split(' ') ?? []
  const sortBy = (index: number) => {
    const name = columns[index]?.by
    if (order && typeof name === 'string')
      order.value = `${name} ${ordered === name && direction !== 'asc' ? 'asc' : 'desc'}`
    else
      sort.value = {
        at: index,
        isDown: sort.value?.at === index ? !sort.value.isDown : (columns[index]?.isNumber ?? false),
      }
  }
  function getAriaSort(index: number) {
    const name = columns[index]?.by
    const isShown = typeof name === 'string' ? ordered === name : sort.value?.at === index
    const isDown = typeof name === 'string' ? direction !== 'asc' : sort.value?.isDown
    return isShown ? (isDown ? 'descending' : 'ascending') : 'none'
  }

  if (rows.length === 0) return <p class="empty">{empty}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: makes wide tables scrollable by keyboard
    <section class="table" tabIndex={0} aria-label={sanitize(caption)}>
      <table>
        <caption>{sanitize(caption)}</caption>
        <thead>
          <tr>
            {columns.map(({ name, by: sortable, isNumber }, index) => (
              <th
                key={name}
                scope="col"
                class={isNumber ? 'number' : undefined}
                aria-sort={sortable ? getAriaSort(index) : undefined}
              >
                {sortable ? (
                  <button type="button" class="sort" onClick={() => sortBy(index)}>
                    {name}{' '}
                    <span aria-hidden="true">{{ none: '↕', ascending: '↑', descending: '↓' }[getAriaSort(index)]}</span>
                  </button>
                ) : (
                  name
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, most.value).map((row) => (
            <tr key={getKey(row)}>
              {columns.map(({ name, cell, isNumber }, index) =>
                index === 0 ? (
                  <th key={name} scope="row">
                    {sanitizeNode(cell(row))}
                  </th>
                ) : (
                  <td key={name} class={isNumber ? 'number' : undefined} data-name={name}>
                    {sanitizeNode(cell(row))}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
        {totals && (
          <tfoot>
            <tr>
              {totals.map((cell, index) => (
                <td
                  key={columns[index]?.name}
                  class={columns[index]?.isNumber ? 'number' : undefined}
                  data-name={index === 0 ? undefined : columns[index]?.name}
                >
                  {cell}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
      {sorted.length > most.value && (
        <p class="more">
          Showing {formatNumber(most.value)} of {formatNumber(sorted.length)}{' '}
          <button type="button" onClick={() => (most.value += PAGE_SIZE)}>
            Show more
          </button>
        </p>
      )}
    </section>
  )
}

const PAGE_SIZE = 200

const compare = (a: string | number, b: string | number) =>
  typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b))
