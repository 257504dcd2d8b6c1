import type { Random } from '../../support/random.ts'

/** Damages bytes at random: flips bits, truncates them, zeroes a range, or appends something. */
export function damage(bytes: Buffer, random: Random): { bytes: Buffer; how: string } {
  const size = bytes.length
  const where = () => (random.below(3) === 0 ? random.below(Math.min(size, 110)) : random.below(size)) // often in the header
  const kind = random.below(10)
  if (kind < 5) {
    const turned = Buffer.from(bytes)
    const spots = new Set(Array.from({ length: kind < 3 ? 1 : 2 + random.below(30) }, where))
    for (const spot of spots) turned.writeUInt8(turned.readUInt8(spot) ^ (1 << random.below(8)), spot)
    return { bytes: turned, how: `bits turned at ${[...spots]}` }
  }
  const index = where()
  if (kind < 8) return { bytes: Buffer.from(bytes.subarray(0, index)), how: `cut at ${index}` }
  if (kind < 9) {
    const blank = Buffer.from(bytes).fill(0, index, Math.min(size, index + 1 + random.below(4_096)))
    return { bytes: blank, how: `zeros from ${index}` }
  }
  return {
    bytes: Buffer.concat([bytes, bytes.subarray(index, index + 1 + random.below(100))]),
    how: `longer by some bytes of ${index}`,
  }
}
