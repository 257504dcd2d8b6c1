import type { UserPart } from '../../src/protocols/formats/canonical/canonical-parts.ts'
import { estimateTokens } from '../../src/protocols/formats/estimate-tokens.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('estimating tokens')

const estimate = (content: UserPart[]) => estimateTokens({ turns: [{ role: 'user', content }], tools: [] })
const isNear = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < expected / 20, `${actual} is not near ${expected}`)

test('the estimate is a quarter of the character count', () =>
  isNear(estimate([{ type: 'text', text: 'some words '.repeat(4_000) }]), 11_000))

test('a large image counts as about 1,600 tokens', () => {
  const source = { type: 'base64', mediaType: 'image/png', data: 'x'.repeat(4_000_000) } as const
  isNear(estimate([{ type: 'image', source }]), 1_600)
})

test("an image counts as about 1,600 tokens in each format's body", () => {
  const data = 'x'.repeat(4_000_000)
  isNear(estimateTokens({ messages: [{ content: [{ image_url: { url: `data:image/png;base64,${data}` } }] }] }), 1_600)
  isNear(estimateTokens({ messages: [{ content: [{ type: 'image', source: { type: 'base64', data } }] }] }), 1_600)
  isNear(estimateTokens({ contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data } }] }] }), 1_600)
})

test('recognizes base64 of any length by its first and last characters', () => {
  const base64 = 'x'.repeat(20_000_000)
  isNear(estimateTokens({ data: base64 }), 1_600)
  isNear(estimateTokens({ data: `Some text, then ${base64}` }), 5_000_004)
  isNear(estimateTokens({ data: `${base64}, then some text` }), 5_000_004)
})

test('tool token counts include field names', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`field_${index}`.padEnd(40, '_'), {}]),
  )
  const tool = { type: 'function', name: 'f', schema: { type: 'object', properties } } as const
  assert.ok(estimateTokens({ turns: [], tools: [tool] }) > 1_000)
})

test('an empty request counts as one token', () => assert.is(estimateTokens({ turns: [], tools: [] }), 1))
