import { anthropic, createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle, google } from '@ai-sdk/google'
import { createOpenAI, openai } from '@ai-sdk/openai'
import * as ai7 from 'ai'
import type { JsonObject } from '../../../src/lib/json.ts'
import { ai6 } from '../../pipeline/support/sdk/clients/ai.ts'
import { saidIn } from '../../pipeline/support/sdk/said.ts'
import { type FakeUpstream, fakeUpstream, json, sse } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'

/*
 * Tools that run at a vendor: the vendor is told of them what the AI SDK's own package tells, and the application gets of the calls and results
 * what that package gives.
 */

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const test = suite('tools of the AI SDK that run at a vendor')

type Fetch = typeof globalThis.fetch
type Format = 'openai-responses' | 'anthropic-messages' | 'gemini'

const own = (fetch: Fetch) => ({ apiKey: 'x', baseURL: 'http://vendor.test/v1', fetch })

const vendors: Readonly<
  Record<Format, { provider: string; model: string; create(fetch: Fetch): (model: string) => ai7.LanguageModel }>
> = {
  'openai-responses': { provider: 'openai', model: 'gpt-5.6', create: (fetch) => createOpenAI(own(fetch)).responses },
  'anthropic-messages': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    create: (fetch) => createAnthropic(own(fetch)),
  },
  gemini: { provider: 'google', model: 'gemini-3-pro-preview', create: (fetch) => createGoogle(own(fetch)) },
}

/** An answer of Anthropic that calls a tool of its own. */
const ran = (name: string, input: JsonObject, type: string, content: unknown): JsonObject[] => [
  { type: 'server_tool_use', id: 'srvtoolu_1', name, input },
  { type, tool_use_id: 'srvtoolu_1', content },
]

interface Case {
  format: Format
  tools: ai7.ToolSet
  /** What the vendor says before its text, in its own form. */
  said: JsonObject[]
  /** Words of the result, which the vendor is told in the next turn. */
  words?: string
}

const cases: Readonly<Record<string, Case>> = {
  'code in a shell of Anthropic': {
    format: 'anthropic-messages',
    tools: { run: anthropic.tools.codeExecution_20250825() },
    said: ran('bash_code_execution', { command: 'echo 42' }, 'bash_code_execution_tool_result', {
      ...{ type: 'bash_code_execution_result', stdout: 'said 42', stderr: '', return_code: 0, content: [] },
    }),
    words: 'said 42',
  },
  'a page that Anthropic fetches': {
    format: 'anthropic-messages',
    tools: { web_fetch: anthropic.tools.webFetch_20250910({ maxUses: 2, citations: { enabled: true } }) },
    said: ran('web_fetch', { url: 'https://a.test/' }, 'web_fetch_tool_result', {
      ...{ type: 'web_fetch_result', url: 'https://a.test/', retrieved_at: '2026-01-01T00:00:00Z' },
      content: { type: 'document', title: 'A', source: { type: 'text', media_type: 'text/plain', data: 'So it is.' } },
    }),
    words: 'So it is.',
  },
  'a page that Anthropic cannot fetch': {
    format: 'anthropic-messages',
    tools: { web_fetch: anthropic.tools.webFetch_20250910() },
    said: ran('web_fetch', { url: 'https://a.test/' }, 'web_fetch_tool_result', {
      ...{ type: 'web_fetch_tool_result_error', error_code: 'url_not_accessible' },
    }),
  },
  'code that OpenAI runs': {
    format: 'openai-responses',
    tools: { code: openai.tools.codeInterpreter({ container: { fileIds: ['file-1'] } }) },
    said: [
      {
        ...{ type: 'code_interpreter_call', id: 'ci_1', status: 'completed', code: 'print(42)', container_id: 'c_1' },
        outputs: [{ type: 'logs', logs: 'said 42' }],
      },
    ],
    words: 'said 42',
  },
  'files that OpenAI searches': {
    format: 'openai-responses',
    tools: { file_search: openai.tools.fileSearch({ vectorStoreIds: ['vs_1'], ranking: { scoreThreshold: 0.5 } }) },
    said: [
      {
        ...{ type: 'file_search_call', id: 'fs_1', status: 'completed', queries: ['why'] },
        results: [{ attributes: { my_own: 'x' }, file_id: 'file-1', filename: 'a.pdf', score: 0.9, text: 'So it is.' }],
      },
    ],
    words: 'So it is.',
  },
  'a server of MCP that OpenAI asks': {
    format: 'openai-responses',
    tools: {
      mcp: openai.tools.mcp({
        ...{ serverLabel: 'dice', serverUrl: 'https://mcp.test/', headers: { 'X-Own': 'y' } },
        allowedTools: { toolNames: ['roll'] },
      }),
    },
    said: [
      {
        ...{ type: 'mcp_call', id: 'mcp_1', status: 'completed', server_label: 'dice', name: 'roll' },
        ...{ arguments: '{"sides":6}', output: 'It is a 4.', error: null, approval_request_id: null },
      },
    ],
    words: 'It is a 4.',
  },
  'code that Google runs': {
    format: 'gemini',
    tools: { code_execution: google.tools.codeExecution({}) },
    said: [
      { executableCode: { language: 'PYTHON', code: 'print(42)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: 'said 42' } },
    ],
    words: 'said 42',
  },
}

/** The answer of a vendor that runs a tool, whole and streamed. */
function answerOf({ format, said }: Case): { whole: object; events: string[] } {
  const { whole, events } = saidIn(format, { blocks: [{ type: 'text', text: 'It is 42.' }] })
  const answer = Object(whole)
  const data = (event: object) => `data: ${JSON.stringify(event)}\n\n`
  const named = (event: { type: string; [member: string]: unknown }) => `event: ${event.type}\n${data(event)}`
  switch (format) {
    case 'anthropic-messages': {
      const blocks = said.flatMap((block, index) => {
        const { input } = block
        const isCall = input !== undefined
        const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) }
        return [
          named({ type: 'content_block_start', index, content_block: isCall ? { ...block, input: {} } : block }),
          ...(isCall ? [named({ type: 'content_block_delta', index, delta })] : []),
          named({ type: 'content_block_stop', index }),
        ]
      })
      const later = events.slice(1).map((event) => event.replace('"index":0', `"index":${said.length}`))
      return {
        whole: { ...answer, content: [...said, ...answer.content] },
        events: [events[0] ?? '', ...blocks, ...later],
      }
    }
    case 'openai-responses': {
      const items = said.flatMap((item, index) => [
        named({ type: 'response.output_item.added', output_index: index, item: { ...item, status: 'in_progress' } }),
        ...(item.code === undefined
          ? []
          : [
              named({
                type: 'response.code_interpreter_call_code.done',
                output_index: index,
                code: item.code,
                item_id: item.id,
              }),
            ]),
        named({ type: 'response.output_item.done', output_index: index, item }),
      ])
      const later = events.slice(1).map((event) => event.replace('"output_index":0', `"output_index":${said.length}`))
      return {
        whole: { ...answer, output: [...said, ...answer.output] },
        events: [events[0] ?? '', ...items, ...later],
      }
    }
    case 'gemini':
      return {
        whole: {
          ...answer,
          candidates: [
            { ...answer.candidates[0], content: { role: 'model', parts: [...said, { text: 'It is 42.' }] } },
          ],
        },
        events: [
          ...said.map((part) => data({ candidates: [{ content: { role: 'model', parts: [part] } }] })),
          ...events,
        ],
      }
  }
}

/** What an application sees, without ids; OpenAI's package adds empty thoughts, and Anthropic's its own notes. */
function seen(part: Awaited<ReturnType<typeof ai7.generateText>>['content'][number]): unknown[] {
  if (part.type === 'text') return [part.type, part.text]
  if (part.type === 'tool-call')
    return [part.type, part.toolName, part.input, part.providerExecuted, part.dynamic ?? false]
  if (part.type === 'tool-result') return [part.type, part.toolName, part.output, part.providerExecuted]
  return part.type === 'tool-error' ? [part.type, part.toolName, part.error] : []
}

async function hear(ai: typeof ai7, asked: Parameters<typeof ai7.generateText>[0], stream: boolean) {
  const { content, response } = stream ? ai.streamText(asked) : await ai.generateText(asked)
  const parts = (await content).map(seen).filter(({ length }) => length > 0)
  return { parts: JSON.parse(JSON.stringify(parts)), messages: (await response).messages }
}

const bodyOf = (up: FakeUpstream): JsonObject => JSON.parse(up.calls.at(-1)?.body ?? '{}')

async function openBefore(format: Format, answer: { whole: object; events: string[] }) {
  const { provider, model } = vendors[format]
  const up = fakeUpstream(({ url, body }) =>
    url.pathname.includes(':stream') || JSON.parse(body).stream ? sse(answer.events) : json(answer.whole),
  )
  const { gateway } = await openWorld({
    fetch: up,
    catalog: { [provider]: { baseUrl: 'http://one.test/v1', format, models: [{ id: model }] } },
    connections: [provider],
  })
  return { up, name: `${provider}/${model}`, fetch: gateway.fetch }
}

for (const [what, given] of Object.entries(cases))
  test(`${what}: the call and its result are what the AI SDK’s own package gives`, async () => {
    const { format, tools, words } = given
    const { model, create } = vendors[format]
    const { up, name, fetch } = await openBefore(format, answerOf(given))
    const asked = { prompt: 'Hi', maxRetries: 0, tools }
    for (const stream of [false, true]) {
      const expected = await hear(ai7, { ...asked, model: create(up)(model) }, stream)
      assert.ok(expected.parts.length > 2, JSON.stringify(expected.parts))
      const { tools: declared } = bodyOf(up)
      for (const [ai, version] of [
        [ai7, 4],
        [ai6, 3],
      ] as const) {
        const models = ai.createGateway({ apiKey: 'x', baseURL: `http://gateway/v${version}/ai`, fetch })
        const heard = await hear(ai, { ...asked, model: models(name) }, stream)
        assert.equal(heard.parts, expected.parts, `${stream ? 'streamed' : 'whole'}, version ${version}`)
        assert.equal(bodyOf(up).tools, declared)
        if (words === undefined) continue
        const messages: ai7.ModelMessage[] = [...heard.messages, { role: 'user', content: 'And now?' }]
        await hear(ai, { model: models(name), maxRetries: 0, tools, messages }, stream)
        assert.match(JSON.stringify(bodyOf(up)), words)
      }
    }
  })

test('a tool of another vendor is left out with a warning, or refused where there is no other', async () => {
  const { up, name, fetch } = await openBefore('gemini', answerOf({ format: 'gemini', tools: {}, said: [] }))
  const model = ai7.createGateway({ apiKey: 'x', baseURL: 'http://gateway/v4/ai', fetch })(name)
  const run = anthropic.tools.codeExecution_20250825()
  const error = await ai7.generateText({ model, prompt: 'Hi', maxRetries: 0, tools: { run } }).catch((reason) => reason)
  assert.is(error.statusCode, 400)
  const code = google.tools.codeExecution({})
  const { warnings } = await ai7.generateText({ model, prompt: 'Hi', maxRetries: 0, tools: { run, code } })
  assert.equal(bodyOf(up).tools, [{ codeExecution: {} }])
  assert.equal(
    warnings?.map((warning) => 'feature' in warning && warning.feature),
    ['tools[0]'],
  )
})
