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

/**
 * Selects the recordings for a pair of formats: all of them in CI, and every fourth one locally. Other pairs that share a format get different
 * recordings.
 */
export const getShare = <T>(recordings: readonly T[], from: WireFormat, to: WireFormat): readonly T[] => {
  const first = (wireFormats.indexOf(from) + wireFormats.indexOf(to)) % 4
  return isCi ? recordings : recordings.filter((_, index) => index % 4 === first)
}

const WIDTH = 20

/** Prints the pass rates of all pairs of formats: source formats in rows, target formats in columns. The keys of `passed` are `<from> <to>`. */
export function printMatrix(passed: ReadonlyMap<string, string>): void {
  const row = (cells: readonly string[]) => console.log(cells.map((cell) => cell.padStart(WIDTH)).join(''))
  row(['', ...wireFormats])
  for (const from of wireFormats) row([from, ...wireFormats.map((to) => passed.get(`${from} ${to}`) ?? '-')])
}
