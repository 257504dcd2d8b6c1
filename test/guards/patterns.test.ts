import { patterns } from '../../src/features/guards/guards.ts'
import { createPatternFinder } from '../../src/features/guards/kinds/pattern-finder.ts'
import { chatChunk, chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { assert, suite } from '../support/suite.ts'
import { openWorld } from './world.ts'

const test = suite('pattern guards')

const ticket = { name: 'p', patterns: ['TICKET-\\d{4}', '^secret:.*$'], flags: 'im' } as const

test('patterns: matches are rejected, even if they contain invisible characters', async () => {
  const { say } = await openWorld([await patterns(ticket)])
  for (const text of ['See ticket-1234', 'a\nSecret: b\nc', 'See TIC\u200bKET-1234', 'See TICKET-１２３４'])
    assert.is((await say('openai-chat', text)).status, 400, text)
  for (const text of ['ticket-12', 'a secret: b']) assert.is((await say('openai-chat', text)).status, 200, text)
})

test('patterns: matches are masked, and restored in the response', async () => {
  const guard = await patterns({ ...ticket, action: 'mask' })
  const probe = await openWorld([guard])
  await probe.say('openai-chat', 'See TICKET-1234')
  const sent: string = JSON.parse(probe.upstream.calls[0]?.body ?? '').messages[0].content
  assert.match(sent, /^See PATTERN-1-\w{4}$/)
  const { say } = await openWorld([guard], { response: chatResponse(sent) })
  assert.match(await (await say('openai-chat', 'See TICKET-1234')).text(), 'See TICKET-1234')
})

test('patterns: a match is detected no matter where a stream splits it', async () => {
  const guard = await patterns({ ...ticket, on: ['answer'], action: 'replace' })
  const message = 'Open TICKET-1234 and TICKET-5678.'
  for (let index = 1; index < message.length; index += 2) {
    const pieces = [message.slice(0, index), message.slice(index)].map((content) => chatChunk({ content }))
    const { say } = await openWorld([guard], { events: [...pieces, ...chatEvents().slice(-3)] })
    const text = await (await say('openai-chat', 'Hi', { stream: true })).text()
    const content = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join('')
    assert.match(content, 'Open [PATTERN] and [PATTERN].', `${index}`)
  }
})

test("a pattern with nested quantifiers doesn't backtrack catastrophically on 100,000 characters", async () => {
  const { say } = await openWorld([await patterns({ name: 'p', patterns: ['(a+)+$'], timeoutMs: 60_000 })])
  assert.is((await say('openai-chat', `${'a'.repeat(100_000)}b`)).status, 200)
})

test("a pattern that RE2 doesn't support is rejected with the reason", async () => {
  for (const [pattern, reason] of [
    ['(?<=a)b', 'patterns().patterns[0] is not valid in RE2 syntax: invalid named capture: `(?<=a)b`'],
    ['(?=a)', 'invalid or unsupported Perl syntax'],
    ['(a)\\1', 'invalid escape sequence'],
    ['[', 'missing closing ]'],
  ] as const) {
    const error = await patterns({ name: 'p', patterns: [pattern] }).catch((error: unknown) => error)
    assert.instance(error, TypeError)
    assert.match(String(error), reason)
  }
})

test("patterns: if re2js isn't installed, the error explains how to install it", async () => {
  const library = Promise.reject(new Error('Cannot find package'))
  const finder = createPatternFinder({ patterns: ['a'], flags: '', maxMatch: 9 }, library)
  const error = await finder.catch((error: unknown) => error)
  assert.match(String(error), 'npm install re2js')
})
