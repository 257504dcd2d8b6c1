import { change } from '../../src/features/guards/guards.ts'
import { type ChangeRules, createChangeGuard } from '../../src/features/guards/kinds/change-guard.ts'
import type { ClientFormat } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { clientNames, openWorld } from './world.ts'

const test = suite('guards that change requests')

const both = { prepend: 'Be "brief".', append: 'Say please.' }

/** The rules, the client's request, and the changed request. Unusual whitespace must be preserved. */
const changes: ReadonlyArray<[ClientFormat, ChangeRules, before: string, after: string]> = [
  [
    'openai-chat',
    both,
    '{ "messages" : [ {"role":"developer","content":"a, [b]"} , {"role":"user","content":"Hi"} ],"n":1.0}',
    '{ "messages" : [{"role":"system","content":"Be \\"brief\\"."}, {"role":"developer","content":"a, [b]"} ,{"role":"system","content":"Say please."}, {"role":"user","content":"Hi"} ],"n":1.0}',
  ],
  [
    'openai-chat',
    both,
    '{"messages":[{"role":"user","content":"Hi"}]}',
    '{"messages":[{"role":"system","content":"Be \\"brief\\"."},{"role":"system","content":"Say please."},{"role":"user","content":"Hi"}]}',
  ],
  [
    'openai-responses',
    both,
    '{"input":"Hi" ,"instructions": "a\\u0062"}',
    '{"input":"Hi" ,"instructions": "Be \\"brief\\".\\n\\nab\\n\\nSay please."}',
  ],
  ['openai-responses', { append: 'A' }, '{"input":"Hi"}', '{"instructions":"A","input":"Hi"}'],
  [
    'anthropic-messages',
    both,
    '{"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}} ],"messages":[]}',
    '{"system":[{"type":"text","text":"Be \\"brief\\"."},{"type":"text","text":"a","cache_control":{"type":"ephemeral"}} ,{"type":"text","text":"Say please."}],"messages":[]}',
  ],
  ['anthropic-messages', { prepend: 'A' }, '{"system":"b","messages":[]}', '{"system":"A\\n\\nb","messages":[]}'],
  [
    'gemini',
    both,
    '{"contents":[],"system_instruction":{"parts":[{"text":"a"}]}}',
    '{"contents":[],"system_instruction":{"parts":[{"text":"Be \\"brief\\"."},{"text":"a"},{"text":"Say please."}]}}',
  ],
  ['gemini', { append: 'A' }, '{"contents":[]}', '{"systemInstruction":{"parts":[{"text":"A"}]},"contents":[]}'],
  ['ai-sdk', { prepend: 'A' }, '{"prompt":[]}', '{"prompt":[{"role":"system","content":"A"}]}'],
  [
    'openai-chat',
    { set: { temperature: 0 }, max: { maxTokens: 100, topP: 0.5 } },
    '{"temperature":1.50,"max_tokens": 500,"max_completion_tokens":50,"x":1.0}',
    '{"temperature":0,"max_tokens": 100,"max_completion_tokens":50,"x":1.0}',
  ],
  ['openai-responses', { max: { maxTokens: 9 } }, '{"input":""}', '{"max_output_tokens":9,"input":""}'],
  ['anthropic-messages', { max: { maxTokens: 9 } }, '{"max_tokens":"many"}', '{"max_tokens":9}'],
  [
    'gemini',
    { max: { maxTokens: 9, temperature: 1 } },
    '{"generationConfig":{"temperature":2,"candidateCount":1}}',
    '{"generationConfig":{"maxOutputTokens":9,"temperature":1,"candidateCount":1}}',
  ],
  ['ai-sdk', { set: { topP: 0.1 } }, '{"prompt":[]}', '{"topP":0.1,"prompt":[]}'],
]

for (const [format, rules, before, after] of changes)
  test(`change: ${JSON.stringify(rules)} in ${format} leaves all other characters of ${before} unchanged`, () => {
    assert.is(createChangeGuard({ name: 'c', ...rules }).rewrite?.(before, format), after)
  })

test('change: a guard in watch mode changes nothing', async () => {
  const { say, upstream } = await openWorld([change({ name: 'c', append: 'Say please.', mode: 'watch' })])
  assert.is((await say('openai-chat', 'Hi')).status, 200)
  assert.equal(JSON.parse(upstream.calls[0]?.body ?? '').messages, [{ role: 'user', content: 'Hi' }])
})

for (const client of clientNames)
  test(`change: the provider gets the appended system text (${client})`, async () => {
    const { say, upstream } = await openWorld([change({ name: 'c', append: 'Say please.', max: { maxTokens: 9 } })])
    const response = await say(client, 'Hi')
    assert.is(response.status, 200, await response.clone().text())
    const { messages, ...rest } = JSON.parse(upstream.calls[0]?.body ?? '')
    assert.is(messages[0].role, 'system')
    assert.match(JSON.stringify(messages[0]), 'Say please.')
    assert.is(rest.max_tokens ?? rest.max_completion_tokens, 9)
  })
