import type { Order } from './order.ts'

/** Shuffled: each order is as likely as any other. */
export const random: Order = (entries, inputs) => {
  const left = [...entries]
  return entries.flatMap(() => left.splice(Math.floor(inputs.random() * left.length), 1))
}
