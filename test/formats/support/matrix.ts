import { formatOf } from '../../../src/formats/formats.ts'
import type { Translator } from '../../../src/formats/translator.ts'
import { wireFormats } from '../../../src/lib/unions.ts'
import type { WireFormat } from '../../../src/types.ts'

export const translatorOf = (name: WireFormat): Promise<Translator> => formatOf(name).loadTranslator()

const WIDTH = 20

/** Prints the rates of all pairs of formats, from which in rows and to which in columns; `passed` is by `from to`. */
export function printMatrix(passed: ReadonlyMap<string, string>): void {
  const row = (cells: readonly string[]) => console.log(cells.map((cell) => cell.padStart(WIDTH)).join(''))
  row(['', ...wireFormats])
  for (const from of wireFormats) row([from, ...wireFormats.map((to) => passed.get(`${from} ${to}`) ?? '-')])
}
