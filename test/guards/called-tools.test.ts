import { tools, words } from '../../src/features/guards/guards.ts'
import { chatChunk, chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { assert, suite } from '../support/suite.ts'
import { clientNames, openWorld } from './world.ts'

const test = suite('guards on tool calls')

const call = { id: 'a', type: 'function', function: { name: 'shell_run', arguments: '{"cmd":"rm -rf"}' } }
const response = {
  ...chatResponse(),
  choices: [
    { index: 0, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' },
  ],
}
const started = { index: 0, ...call, function: { name: 'shell_run', arguments: '' } }
const events = [
  chatChunk({ role: 'assistant', content: '' }),
  chatChunk({ tool_calls: [started] }),
  chatChunk({ tool_calls: [{ index: 0, function: { arguments: '{"cmd":"rm -rf"}' } }] }),
  chatChunk({}, 'tool_calls'),
  ...chatEvents().slice(-2),
]

for (const client of clientNames)
  for (const stream of [false, true])
    test(`tools: a call to a denied tool isn't delivered (${client}${stream ? ', stream' : ''})`, async () => {
      const { say } = await openWorld([tools({ name: 't', deny: ['shell*'] })], { response, events })
      const text = await (await say(client, 'Hi', { stream })).text()
      assert.not.match(text, 'shell_run')
      assert.not.match(text, 'rm -rf')
      const allowed = await openWorld([tools({ name: 't', deny: ['mail*'] })], { response, events })
      assert.match(await (await allowed.say(client, 'Hi', { stream })).text(), 'shell_run')
    })

for (const names of [['shell', '_run'], [...'shell_run'], ['', 'shell_run']])
  test(`a call to a denied tool whose name arrives as ${JSON.stringify(names)} isn't delivered`, async () => {
    const [name = '', ...extra] = names
    const pieces = [
      chatChunk({ role: 'assistant', content: '' }),
      chatChunk({ tool_calls: [{ ...started, function: { name, arguments: '' } }] }),
      ...extra.map((piece) => chatChunk({ tool_calls: [{ index: 0, function: { name: piece } }] })),
      ...events.slice(2),
    ]
    for (const guard of [tools({ name: 't', deny: ['shell_*'] }), words({ name: 'w', words: ['shell_run'] })]) {
      const { say } = await openWorld([guard], { events: pieces })
      const text = await (await say('openai-chat', 'Hi', { stream: true })).text()
      assert.not.match(text, 'rm -rf')
      assert.not.match(text, '_run')
      assert.match(text, 'content_filter')
    }
    const allowed = await openWorld([tools({ name: 't', deny: ['mail'] })], { events: pieces })
    assert.match(await (await allowed.say('openai-chat', 'Hi', { stream: true })).text(), 'rm -rf')
  })
