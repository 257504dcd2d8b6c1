import { pii, words } from '../../src/features/guards/guards.ts'
import type { Guard } from '../../src/index.ts'
import { isObject, type JsonObject, tryParseJson } from '../../src/lib/json.ts'
import { createSseParser } from '../../src/lib/sse.ts'
import { assert, suite } from '../support/suite.ts'
import { findLeaks } from './find-leaks.ts'
import { openWorld, WORD, w } from './world.ts'

const test = suite('guards on several choices')

const builtIn = words({ name: 'words', words: [WORD] })
const n = 2
const event = (json: object) =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', ...json })}\n\n`
const createDelta = (index: number, content: string) =>
  event({ choices: [{ index, delta: { content }, finish_reason: null }] })
const stop = (index: number) => event({ choices: [{ index, delta: {}, finish_reason: 'stop' }] })
const usage = event({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } })
const DONE = 'data: [DONE]\n\n'

/** Returns each choice's text and finish reason. */
function readChoices(stream: string): Record<string, { text: string; finish: unknown }> {
  const choices: Record<string, { text: string; finish: unknown }> = {}
  const parser = createSseParser(({ data }) => {
    const json = tryParseJson(data)
    if (!isObject(json) || !Array.isArray(json.choices)) return
    for (const { index, delta = {}, text, finish_reason: finish } of json.choices as JsonObject[]) {
      choices[`${index}`] ??= { text: '', finish: undefined }
      const choice = choices[`${index}`] as { text: string; finish: unknown } // set above
      assert.is(choice.finish, undefined, 'nothing follows the finish reason of a choice')
      choice.text += `${(isObject(delta) && delta.content) || text || ''}`
      if (finish) choice.finish = finish
    }
  })
  parser.push(stream)
  parser.end()
  return choices
}

async function stream(guards: readonly Guard[], events: readonly string[], body: object = {}) {
  const world = await openWorld(guards, { events })
  const response = await world.say('openai-chat', 'Hi', {
    stream: true,
    body: { n, stream_options: { include_usage: true }, ...body },
  })
  return { text: await response.text(), world }
}

const rejected = [
  ...[
    createDelta(0, 'Fine '),
    createDelta(1, 'I '),
    createDelta(1, 'say SES'),
    createDelta(0, 'so '),
    createDelta(1, 'AME '),
    createDelta(0, 'far.'),
  ],
  ...[createDelta(1, 'and more'), stop(1), stop(0), usage, DONE],
]

for (const guard of [w, builtIn])
  for (const [title, events] of Object.entries({ 'in many chunks': rejected, 'in one chunk': [rejected.join('')] }))
    test(`in a stream sent ${title}, only the rejected choice ends (${guard.name})`, async () => {
      const { text } = await stream([guard], events)
      const choices = readChoices(text)
      assert.equal(choices['0'], { text: 'Fine so far.', finish: 'stop' })
      assert.is(choices['1']?.finish, 'content_filter')
      assert.equal(findLeaks(text, WORD), [])
      assert.not.match(text, 'and more')
      assert.match(text, '[DONE]')
      assert.match(text, '"prompt_tokens":1')
    })

test('a stream ends once all of its choices are rejected', async () => {
  const { text, world } = await stream(
    [builtIn],
    [createDelta(0, `${WORD} `), createDelta(1, `${WORD} `), createDelta(0, 'x'), usage, DONE],
  )
  const choices = readChoices(text)
  assert.equal([choices['0']?.finish, choices['1']?.finish], ['content_filter', 'content_filter'])
  assert.match(text, '[DONE]')
  assert.match(text, '"prompt_tokens"')
  assert.is(world.upstream.open, 0)
})

test('the provider call is canceled once only rejected choices are left', async () => {
  async function* live() {
    yield* [createDelta(0, 'Fine.'), createDelta(1, `${WORD} `), stop(0)]
    for (let index = 0; index < 1_000; index++) {
      await new Promise((resolve) => setTimeout(resolve, 1))
      yield createDelta(1, 'more ')
    }
  }
  const world = await openWorld([builtIn], { events: live() })
  const response = await world.say('openai-chat', 'Hi', { stream: true, body: { n } })
  const text = await response.text()
  assert.equal(readChoices(text)['0'], { text: 'Fine.', finish: 'stop' })
  assert.match(text, '[DONE]')
  assert.is(world.upstream.open, 0)
  assert.ok(world.upstream.pulled < 10_000)
})

test('placeholders are restored in a choice next to a rejected one', async () => {
  const masks = pii({ name: 'm', types: ['email'], action: 'mask' })
  const probe = await openWorld([masks])
  await probe.say('openai-chat', 'Write to a@b.com')
  const placeholder = /EMAIL-1-\w+/.exec(probe.upstream.calls[0]?.body ?? '')?.[0] ?? ''
  const events = [
    createDelta(0, `For ${placeholder}`),
    createDelta(1, `${WORD} `),
    createDelta(0, ' too.'),
    stop(0),
    stop(1),
    usage,
    DONE,
  ]
  const world = await openWorld([builtIn, masks], { events })
  const response = await world.say('openai-chat', 'Write to a@b.com', { stream: true, body: { n } })
  const choices = readChoices(await response.text())
  assert.equal(choices['0'], { text: 'For a@b.com too.', finish: 'stop' })
  assert.is(choices['1']?.finish, 'content_filter')
})

test('in a text completion with several prompts, only the rejected choice ends', async () => {
  const part = (index: number, text: string, finish_reason: string | null = null) =>
    event({ object: 'text_completion', choices: [{ index, text, logprobs: null, finish_reason }] })
  const events = [part(0, 'Fine.'), part(1, `${WORD} `), part(0, '', 'stop'), part(1, 'x', 'stop'), DONE]
  const { send } = await openWorld([builtIn], { events })
  const response = await send('/v1/completions', { model: 'one/m', prompt: ['a', 'b'], stream: true })
  const text = await response.text()
  const choices = readChoices(text)
  assert.equal(choices['0'], { text: 'Fine.', finish: 'stop' })
  assert.is(choices['1']?.finish, 'content_filter')
  assert.equal(findLeaks(text, WORD), [])
})
