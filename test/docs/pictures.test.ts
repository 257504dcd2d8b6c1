import { readFileSync } from 'node:fs'
import { assert, suite } from '../support/suite.ts'

const test = suite('images in the documentation')

for (const scheme of ['light', 'dark']) {
  test(`the ${scheme} failover animation is small and stops on its own`, () => {
    const url = new URL(`../../src/features/dashboard/pictures/failover-${scheme}.webp`, import.meta.url)
    const webp = readFileSync(url)
    const animation = webp.indexOf('ANIM')
    assert.ok(webp.byteLength < 300_000, `${webp.byteLength} bytes`)
    assert.ok(animation > 0, "the image isn't animated")
    assert.is(webp.readUInt16LE(animation + 12), 2)
  })
}
