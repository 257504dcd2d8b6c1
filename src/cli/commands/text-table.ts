import { isObject } from '../../lib/json.ts'

/** A table column: its title, and a function that returns a cell's text, or `undefined` for an empty cell. */
export type Column<T> = readonly [title: string, of: (record: T) => string | undefined]

/** A column, or the name of a field to show. */
export type FieldColumn<T> = (keyof T & string) | Column<T>

const toColumn = <T extends object>(column: FieldColumn<T>): Column<T> =>
  typeof column === 'string' ? [toTitle(column), (record) => formatValue(record[column])] : column

/** Returns a field's column title, such as `LAST USED` for `lastUsedAt`. */
export const toTitle = (field: string): string =>
  field
    .replace(/^is(?=[A-Z])|At$/g, '')
    .replace(/_|(?<=[a-z])(?=[A-Z])/g, ' ')
    .toUpperCase()

/** Formats records as aligned lines below their titles. Doesn't truncate anything. Omits columns that are empty in all records. */
export function formatTable<T extends object>(columns: readonly FieldColumn<T>[], records: readonly T[]): string {
  const filled = columns
    .map(toColumn)
    .map(([title, getCell]) => [title, ...records.map((record) => toPrintable(getCell(record) ?? ''))])
    .filter(([, ...cells]) => cells.some((cell) => cell !== ''))
  return alignCells(['', ...records].map((_, line) => filled.map((cells) => cells[line] || '-')))
}

/** Formats one record with one field per line. Fields of nested objects have names such as `health.windowMs`. */
export function formatDetails(record: object): string {
  return alignCells(listMembers(record, '').map(([name, value]) => [name, toPrintable(formatValue(value)) || '-']))
}

function listMembers(record: object, prefix: string): [name: string, value: unknown][] {
  return Object.entries(record).flatMap(([name, value]): [string, unknown][] =>
    isObject(value) ? listMembers(value, `${prefix}${name}.`) : [[prefix + name, value]],
  )
}

export function formatValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(formatValue).join(', ')
  if (value === null || value === undefined) return ''
  return isObject(value) ? JSON.stringify(value) : String(value)
}

/** Pads the cells so columns line up. */
function alignCells(lines: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const cells of lines)
    for (const [index, cell] of cells.entries()) widths[index] = Math.max(widths[index] ?? 0, measureWidth(cell))
  return lines
    .map(
      (cells) =>
        `${cells
          .map((cell, index) => padCell(cell, widths[index] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

const padCell = (cell: string, width: number) => cell + ' '.repeat(width - measureWidth(cell))

/** Returns the width of text in terminal columns: East Asian characters and emoji take two, combining marks none. */
function measureWidth(text: string): number {
  if (NARROW_PATTERN.test(text)) return text.length // fast path: most cells are narrow, and tables can be long
  let width = 0
  for (const character of text) width += MARK_PATTERN.test(character) ? 0 : WIDE_PATTERN.test(character) ? 2 : 1
  return width
}

const NARROW_PATTERN = /^[\x20-\x7e…]*$/
const MARK_PATTERN = /\p{M}/u
const WIDE_PATTERN =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/u

/** Removes control characters and line breaks, so names chosen by other people can't control the terminal. */
export const toPrintable = (text: string): string => text.replace(/\s+/g, ' ').replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
