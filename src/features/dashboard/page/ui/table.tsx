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
  const sort = useSignal<{ columnIndex: number; isDescending: boolean } | undefined>(undefined)
  const visibleCount = useSignal(PAGE_SIZE)
  const sortColumn = sort.value && columns[sort.value.columnIndex]?.by
  const sortedRows =
    typeof sortColumn === 'function'
      ? [...rows].sort((a, b) => compare(sortColumn(a), sortColumn(b)) * (sort.value?.isDescending ? -1 : 1))
      : rows

  const [orderedColumn, direction] = order?.value.split(' ') ?? []
  const sortBy = (index: number) => {
    const name = columns[index]?.by
    if (order && typeof name === 'string')
      order.value = `${name} ${orderedColumn === name && direction !== 'asc' ? 'asc' : 'desc'}`
    else
      sort.value = {
        columnIndex: index,
        isDescending:
          sort.value?.columnIndex === index ? !sort.value.isDescending : (columns[index]?.isNumber ?? false),
      }
  }
  function getAriaSort(index: number) {
    const name = columns[index]?.by
    const isSorted = typeof name === 'string' ? orderedColumn === name : sort.value?.columnIndex === index
    const isDescending = typeof name === 'string' ? direction !== 'asc' : sort.value?.isDescending
    return isSorted ? (isDescending ? 'descending' : 'ascending') : 'none'
  }

  if (rows.length === 0) return <p class="empty">{empty}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: makes wide tables scrollable by keyboard
    <section class="table" tabIndex={0} aria-label={sanitize(caption)}>
      <table>
        <caption>{sanitize(caption)}</caption>
        <thead>
          <tr>
            {columns.map(({ name, by: sortKey, isNumber }, index) => (
              <th
                key={name}
                scope="col"
                class={isNumber ? 'number' : undefined}
                aria-sort={sortKey ? getAriaSort(index) : undefined}
              >
                {sortKey ? (
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
          {sortedRows.slice(0, visibleCount.value).map((row) => (
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
      {sortedRows.length > visibleCount.value && (
        <p class="more">
          Showing {formatNumber(visibleCount.value)} of {formatNumber(sortedRows.length)}{' '}
          <button type="button" onClick={() => (visibleCount.value += PAGE_SIZE)}>
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
