import { estimateTokens } from '../../../src/formats/canonical/estimate-tokens.ts'
import type { UserPart } from '../../../src/formats/canonical/parts.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('an estimate of tokens')

const estimate = (content: UserPart[]) => estimateTokens({ turns: [{ role: 'user', content }], tools: [] })
const near = (got: number, expected: number) =>
  assert.ok(Math.abs(got - expected) < expected / 10, `${got} not near ${expected}`)

test('is a quarter of the characters', () => near(estimate([{ type: 'text', text: 'x'.repeat(40_000) }]), 10_000))

test('takes an image for an image, however many bytes it has', () => {
  const source = { type: 'base64', mediaType: 'image/png', data: 'x'.repeat(4_000_000) } as const
  near(estimate([{ type: 'image', source }]), 1_500)
})

test('counts the tools with the names of their fields', () => {
  const properties = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`field_${at}`.padEnd(40, '_'), {}]))
  const tool = { type: 'function', name: 'f', schema: { type: 'object', properties } } as const
  assert.ok(estimateTokens({ turns: [], tools: [tool] }) > 1_000)
})

test('is never nothing', () => assert.ok(estimateTokens({ turns: [], tools: [] }) > 0))
