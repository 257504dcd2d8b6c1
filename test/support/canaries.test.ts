import { canaryIn, forgetCanaries, plant } from './canaries.ts'
import { assert, suite } from './suite.ts'

const test = suite('credentials as canaries')
test.after.each(forgetCanaries)

test('canary credentials are detected in text, JSON, errors, and their causes', () => {
  plant('a-credential')
  const cause = new Error('said a-credential')
  const circle: unknown[] = [{ deep: { 'a-credential': 1 } }]
  circle.unshift(circle)
  const held = [new Map([['a', 'a-credential']]), new Set(['a-credential']), new Headers({ a: 'a-credential' })]
  const shownWays = [
    'Bearer a-credential',
    { deep: ['a-credential'] },
    cause,
    new Error('no', { cause }),
    circle,
    ...held,
  ]
  for (const shown of shownWays)
    assert.match(canaryIn(shown, 'the log')?.message ?? '', /^the log exposes the credential a-credential/)
  assert.is(canaryIn(['a credential', undefined, null], 'the log'), undefined)
})

test("canary credentials are detected in a response's body and headers", async () => {
  plant('a-credential')
  const shown = [
    new Response('{"key":"a-credential"}'),
    new Response('{}', { headers: { 'x-debug': 'Bearer a-credential' } }),
  ]
  for (const response of shown) {
    assert.match(await response.clone().text().catch(String), /exposes the credential/)
    assert.match(await response.json().catch(String), /exposes the credential/)
  }
  assert.equal(await Response.json({ key: 'another' }).json(), { key: 'another' })
})

test("short or numeric strings aren't registered as canary credentials", () => {
  for (const credential of ['short', '123456789012', undefined]) plant(credential)
  assert.is(canaryIn('short 123456789012 undefined', 'the log'), undefined)
})
