import type { Entry } from '../group.ts'
import type { Order } from './order.ts'

/** Drawn at random by weight, without replacement; entries of weight 0 last, as listed. */
export const weighted: Order = (entries, { random }) => {
  const left = entries.filter(({ weight }) => weight > 0)
  const drawn: Entry[] = []
  while (left.length > 0) drawn.push(...left.splice(draw(left, random()), 1))
  return [...drawn, ...entries.filter(({ weight }) => weight === 0)]
}

function draw(entries: readonly Entry[], random: number): number {
  let point = random * entries.reduce((sum, { weight }) => sum + weight, 0)
  const at = entries.findIndex(({ weight }) => {
    point -= weight
    return point < 0
  })
  return at < 0 ? entries.length - 1 : at // sums of fractions are not exact
}
