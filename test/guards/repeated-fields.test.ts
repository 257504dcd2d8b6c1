import { pii, words } from '../../src/features/guards/guards.ts'
import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { getOutput } from '../pipeline/support/sdk/model-output.ts'
import { assert, suite } from '../support/suite.ts'
import { openWorld, WORD, w } from './world.ts'

const test = suite('request fields that Responses echoes')

const onAnswer = words({ name: 'words', words: [WORD], on: ['answer'] })
const masks = pii({ name: 'm', types: ['email'], action: 'mask' })
const request = {
  instructions: `Never say ${WORD}. Write to a@b.com.`,
  metadata: { note: WORD },
  tools: [{ type: 'function', name: 'f', description: WORD, parameters: {}, strict: false }],
}

for (const guard of [{ ...w, on: ['answer'] as const }, onAnswer])
  for (const stream of [false, true])
    test(`a blocked word in echoed request fields doesn't end the response (${guard.name}, ${stream ? 'streaming' : 'non-streaming'})`, async () => {
      const { say } = await openWorld([guard], { response: chatResponse('Fine.'), events: chatEvents('Fine.') })
      const text = await (await say('openai-responses', 'Hi', { stream, body: request })).text()
      assert.match(text, 'Fine.')
      assert.match(text, '"status":"completed"')
      assert.match(text, `Never say ${WORD}`)
    })

for (const stream of [false, true])
  test(`masked values in echoed request fields are restored (${stream ? 'streaming' : 'non-streaming'})`, async () => {
    const { whole, events } = getOutput('openai-responses', { blocks: [{ type: 'text', text: 'Fine.' }] })
    const probe = await openWorld([masks], { format: 'openai-responses', response: whole })
    await probe.say('openai-responses', 'Hi', { body: request })
    const { instructions, metadata } = JSON.parse(probe.upstream.calls[0]?.body ?? '{}')
    assert.not.match(instructions, 'a@b.com')
    const repeat = (json: string) =>
      json.replace(
        '"object":"response"',
        `"object":"response",${JSON.stringify({ instructions, metadata }).slice(1, -1)}`,
      )
    const world = await openWorld([masks, onAnswer], {
      format: 'openai-responses',
      response: JSON.parse(repeat(JSON.stringify(whole))),
      events: events.map(repeat),
    })
    const text = await (await world.say('openai-responses', 'Hi', { stream, body: request })).text()
    assert.match(text, 'Write to a@b.com.')
    assert.not.match(text, /EMAIL-1/)
    assert.match(text, '"status":"completed"')
  })

for (const stream of [false, true])
  test(`a blocked word that isn't in the request is rejected in any response field (${stream ? 'streaming' : 'non-streaming'})`, async () => {
    const { whole, events } = getOutput('openai-responses', { blocks: [{ type: 'text', text: 'Fine.' }] })
    const add = (json: string) => json.replace('"object":"response"', `"object":"response","instructions":"${WORD}"`)
    const { say } = await openWorld([onAnswer], {
      format: 'openai-responses',
      response: JSON.parse(add(JSON.stringify(whole))),
      events: events.map(add),
    })
    const text = await (await say('openai-responses', 'Hi', { stream })).text()
    assert.not.match(text, WORD)
    assert.match(text, 'content_filter')
  })

for (const stream of [false, true])
  test(`a blocked word is rejected in the model's output even if the request contains it (${stream ? 'streaming' : 'non-streaming'})`, async () => {
    const { say } = await openWorld([onAnswer], { response: chatResponse(WORD), events: chatEvents(WORD) })
    const text = await (await say('openai-responses', WORD, { stream })).text()
    assert.not.match(text, WORD)
    assert.match(text, 'content_filter')
  })
