import { tools } from '../../src/features/guards/guards.ts'
import type { Guard } from '../../src/index.ts'
import { wireFormats } from '../../src/types/unions.ts'
import { getOutput } from '../pipeline/support/sdk/model-output.ts'
import { assert, suite } from '../support/suite.ts'
import { clientNames, openWorld } from './world.ts'

const test = suite('guards on tool call arguments')

const schema = {
  type: 'object',
  properties: { to: { enum: ['ann@a.test', 'bob@b.test'] }, count: { type: 'integer', maximum: 3 } },
  required: ['to'],
  additionalProperties: false,
}
const guard = tools({ name: 't', arguments: { send: schema } })
const REJECTED = /content_filter|"stop_reason":"refusal"|SAFETY|content-filter/

const createCallStream = (
  format: (typeof wireFormats)[number],
  name: string,
  input: object,
  split?: (text: string) => string[],
) =>
  getOutput(format, {
    blocks: [
      { type: 'text', text: 'Fine.' },
      { type: 'call', id: 'call_1', name, input: input as Record<string, string> },
    ],
    finish: 'calls',
    split: split ?? ((text) => [text]),
  })

for (const client of clientNames)
  for (const format of wireFormats)
    for (const stream of [false, true])
      test(`a tool call is only delivered if its arguments match the schema (${client} client, ${format} provider${stream ? ', stream' : ''})`, async () => {
        for (const [input, isValid] of [
          [{ to: 'ann@a.test', count: 3 }, true],
          [{ to: 'eve@evil.test' }, false],
          [{ to: 'ann@a.test', count: 4 }, false],
          [{ to: 'ann@a.test', extra: 'evil.test' }, false],
          [{}, false],
        ] as const)
          for (const split of stream ? [undefined, (text: string) => [...text]] : [undefined]) {
            const output = createCallStream(format, 'send', input, split)
            const { say } = await openWorld([guard], { format, response: output.whole, events: output.events })
            const text = await (await say(client, 'Hi', { stream })).text()
            assert.is(REJECTED.test(text), !isValid, text)
            assert.not.match(text, 'evil.test')
            if (isValid && !split) assert.match(text, 'ann@a.test')
            if (!isValid) assert.not.match(text, /"(?:name|toolName)":"send"/)
          }
      })

test('no part of a tool call reaches an AI SDK client before its arguments are checked', async () => {
  const own: Guard = {
    name: 'own',
    on: ['answer'],
    check: ({ parts }) =>
      parts.filter(({ kind, text }) => kind === 'tool-call' && text.includes('evil')).length > 1
        ? { verdict: 'refuse' }
        : undefined,
  }
  for (const version of ['3', '4']) {
    const output = createCallStream('openai-chat', 'send', { to: 'eve@evil.test' }, (text) => [...text])
    const { send } = await openWorld([own], { events: output.events })
    const headers = {
      ...{ 'ai-language-model-id': 'one/m', 'ai-language-model-specification-version': version },
      'ai-language-model-streaming': 'true',
    }
    const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]
    const text = await (await send(`/v${version}/ai/language-model`, { prompt }, headers)).text()
    assert.match(text, 'content-filter')
    assert.not.match(text, /tool-input|tool-call|evil/)
  }
})

test("calls to tools without argument rules pass, and arguments that aren't JSON are rejected", async () => {
  const other = createCallStream('openai-chat', 'other', { to: 'eve@evil.test' })
  const passing = await openWorld([guard], { response: other.whole })
  assert.match(await (await passing.say('openai-chat', 'Hi')).text(), 'eve@evil.test')
  const odd = JSON.parse(JSON.stringify(other.whole).replace('"other"', '"send"'))
  odd.choices[0].message.tool_calls[0].function.arguments = '{"to": "ann@a.test"'
  const rejecting = await openWorld([guard], { response: odd })
  assert.match(await (await rejecting.say('openai-chat', 'Hi')).text(), '"finish_reason":"content_filter"')
})

test('an argument schema with an unsupported keyword is rejected', () => {
  for (const [keyword, inner] of [
    ['pattern', { properties: { to: { pattern: '^a' } } }],
    ['format', { items: [{ format: 'email' }] }],
    ['uniqueItems', { anyOf: [{ uniqueItems: true }] }],
    ['patternProperties', { $defs: { a: { patternProperties: {} } } }],
  ] as const)
    assert.throws(
      () => tools({ name: 't', arguments: { send: inner } }),
      new RegExp(`tools\\(\\)\\.arguments\\.send has the keyword "${keyword}", which isn't supported`),
    )
  tools({ name: 't', arguments: { send: { properties: { pattern: { const: { format: 'x' } } } } } })
})

test('an argument schema with a broken reference rejects every call', async () => {
  const broken = tools({ name: 't', arguments: { send: { $ref: '#/nowhere' } } })
  const { say } = await openWorld([broken], {
    response: createCallStream('openai-chat', 'send', { to: 'ann@a.test' }).whole,
  })
  assert.match(await (await say('openai-chat', 'Hi')).text(), '"finish_reason":"content_filter"')
})

test('argument rules can be stored', async () => {
  const { api, say } = await openWorld([], {
    response: createCallStream('openai-chat', 'send', { to: 'eve@evil.test' }).whole,
  })
  const { arguments: stored } = await api.guards.create({ name: 't', kind: 'tools', arguments: { send: schema } })
  assert.equal(stored, { send: schema })
  await api.settings.update({ guards: ['t'] })
  assert.not.match(await (await say('openai-chat', 'Hi')).text(), 'evil.test')
})
