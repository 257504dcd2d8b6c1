import type { ComponentChildren } from 'preact'
import { useSignal } from '../data.ts'
import { shown } from '../format.ts'
import { common } from '../texts/frame.ts'
import { safe } from './basics.tsx'

/** A column of a table. */
export interface Column<Row> {
  name: string
  /** A text is shown as one of others: safe and cut. */
  cell: (row: Row) => ComponentChildren
  /** Makes the column sortable. */
  by?: (row: Row) => string | number
  isNumber?: boolean
}

type TableProps<Row> = {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** What is said when there are no rows. */
  empty?: string
  /** A last row of totals, one cell a column. */
  totals?: readonly ComponentChildren[]
}

/** A table with a caption, sortable columns, and the first 200 rows until more are asked for. */
export function Table<Row>({ caption, columns, rows, keyOf, empty = common.nothing, totals }: TableProps<Row>) {
  const sort = useSignal<{ at: number; isDown: boolean } | undefined>(undefined)
  const most = useSignal(PAGE)
  const by = sort.value && columns[sort.value.at]?.by
  const sorted = by ? [...rows].sort((one, other) => compare(by(one), by(other)) * (sort.value?.isDown ? -1 : 1)) : rows

  const sortBy = (at: number) => {
    sort.value = { at, isDown: sort.value?.at === at ? !sort.value.isDown : (columns[at]?.isNumber ?? false) }
  }
  const ariaSort = (at: number) => (sort.value?.at !== at ? 'none' : sort.value.isDown ? 'descending' : 'ascending')

  if (rows.length === 0) return <p class="empty">{empty}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables scroll, and must be scrollable by the keyboard
    <section class="table" tabIndex={0} aria-label={shown(caption)}>
      <table>
        <caption>{shown(caption)}</caption>
        <thead>
          <tr>
            {columns.map(({ name, by: sortable, isNumber }, at) => (
              <th
                key={name}
                scope="col"
                class={isNumber ? 'number' : undefined}
                aria-sort={sortable ? ariaSort(at) : undefined}
              >
                {sortable ? (
                  <button type="button" class="sort" onClick={() => sortBy(at)}>
                    {name}{' '}
                    <span aria-hidden="true">{{ none: '↕', ascending: '↑', descending: '↓' }[ariaSort(at)]}</span>
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
            <tr key={keyOf(row)}>
              {columns.map(({ name, cell, isNumber }, at) =>
                at === 0 ? (
                  <th key={name} scope="row">
                    {safe(cell(row))}
                  </th>
                ) : (
                  <td key={name} class={isNumber ? 'number' : undefined} data-name={name}>
                    {safe(cell(row))}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
        {totals && (
          <tfoot>
            <tr>
              {totals.map((cell, at) => (
                <td
                  key={columns[at]?.name}
                  class={columns[at]?.isNumber ? 'number' : undefined}
                  data-name={at === 0 ? undefined : columns[at]?.name}
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
          {common.of(most.value, sorted.length)}{' '}
          <button type="button" onClick={() => (most.value += PAGE)}>
            {common.more}
          </button>
        </p>
      )}
    </section>
  )
}

const PAGE = 200

const compare = (one: string | number, other: string | number) =>
  typeof one === 'number' && typeof other === 'number' ? one - other : String(one).localeCompare(String(other))
