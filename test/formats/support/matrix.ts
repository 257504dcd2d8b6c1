import { getSharedFormat } from '../../../src/protocols/formats/formats.ts'
import type { Translator } from '../../../src/protocols/formats/translator.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { isCi } from '../../support/ci.ts'

export async function getTranslator(name: WireFormat): Promise<Translator> {
  const format = getSharedFormat(name)
  if (!format) throw new Error(`providers do not speak ${name}`)
  return format.loadTranslator()
}

/** The recordings that a pair of formats gets: all of them in CI, at a desk every fourth one, which the other pairs of either do not get. */
export const getShare = <T>(recordings: readonly T[], from: WireFormat, to: WireFormat): readonly T[] => {
  const first = (wireFormats.indexOf(from) + wireFormats.indexOf(to)) % 4
  return isCi ? recordings : recordings.filter((_, at) => at % 4 === first)
}

const WIDTH = 20

/** Prints the rates of all pairs of formats, from which in rows and to which in columns; `passed` is by `from to`. */
export function printMatrix(passed: ReadonlyMap<string, string>): void {
  const row = (cells: readonly string[]) => console.log(cells.map((cell) => cell.padStart(WIDTH)).join(''))
  row(['', ...wireFormats])
  for (const from of wireFormats) row([from, ...wireFormats.map((to) => passed.get(`${from} ${to}`) ?? '-')])
}
