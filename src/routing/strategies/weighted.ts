import type { ComboModel } from '../../types.ts'
import { weightOf } from './entry.ts'
import type { Order } from './order.ts'

/** Drawn by weight, one after the other. Those of weight 0 come after all others, as listed. */
export const weighted: Order = (entries, { random }) => {
  const left = entries.filter((entry) => weightOf(entry) > 0)
  const drawn: ComboModel[] = []
  while (left.length > 0) drawn.push(...left.splice(draw(left, random()), 1))
  return [...drawn, ...entries.filter((entry) => weightOf(entry) === 0)]
}

function draw(entries: readonly ComboModel[], random: number): number {
  let point = random * entries.reduce((sum, entry) => sum + weightOf(entry), 0)
  const at = entries.findIndex((entry) => {
    point -= weightOf(entry)
    return point < 0
  })
  return at < 0 ? entries.length - 1 : at // sums of fractions are not exact
}
