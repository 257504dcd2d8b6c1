import { anthropic } from '@ai-sdk/anthropic'
import { google } from '@ai-sdk/google'
import { openai } from '@ai-sdk/openai'
import * as ai7 from 'ai'
import type { JsonObject } from '../../../src/lib/json.ts'
import { ai6 } from '../../pipeline/support/sdk/clients/ai.ts'
import type { FakeUpstream } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { answerOf, type HostFormat, openBefore } from './support/hosted.ts'
import { vendors } from './support/vendors.ts'

/*
 * Tests tools that run at a vendor. Requests declare them through the AI SDK's package for that vendor, and the app receives the same calls and
 * results as when it calls the vendor directly.
 */

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const test = suite('AI SDK tools that run at a vendor')

/** Creates a response in which Anthropic calls its own tool. */
const ran = (name: string, input: JsonObject, type: string, content: unknown): JsonObject[] => [
  { type: 'server_tool_use', id: 'srvtoolu_1', name, input },
  { type, tool_use_id: 'srvtoolu_1', content },
]

type Sent = Parameters<typeof ai7.generateText>[0]

interface Case {
  format: HostFormat
  tools: ai7.ToolSet
  requested?: Pick<Sent, 'toolChoice' | 'providerOptions'>
  /** The vendor's own blocks that precede its text. */
  output: JsonObject[]
  /** Whether the text cites the tool's findings. */
  isCited?: true
  /** A part of the result that the next turn's request must contain. */
  words?: string
}

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** A tool that the app runs. */
const lookup = ai7.tool({
  description: 'Looks',
  inputSchema: ai7.jsonSchema<object>({ type: 'object', properties: {} }),
  execute: async () => 'found',
})

const cases: Readonly<Record<string, Case>> = {
  'code in Anthropic’s shell': {
    format: 'anthropic-messages',
    tools: { run: anthropic.tools.codeExecution_20250825() },
    output: ran('bash_code_execution', { command: 'echo 42' }, 'bash_code_execution_tool_result', {
      ...{ type: 'bash_code_execution_result', stdout: 'said 42', stderr: '', return_code: 0, content: [] },
    }),
    words: 'said 42',
  },
  'a page that Anthropic fetches': {
    format: 'anthropic-messages',
    tools: { web_fetch: anthropic.tools.webFetch_20250910({ maxUses: 2, citations: { enabled: true } }) },
    output: ran('web_fetch', { url: 'https://a.test/' }, 'web_fetch_tool_result', {
      ...{ type: 'web_fetch_result', url: 'https://a.test/', retrieved_at: '2026-01-01T00:00:00Z' },
      content: { type: 'document', title: 'A', source: { type: 'text', media_type: 'text/plain', data: 'So it is.' } },
    }),
    words: 'So it is.',
  },
  'a page that Anthropic cannot fetch': {
    format: 'anthropic-messages',
    tools: { web_fetch: anthropic.tools.webFetch_20250910() },
    output: ran('web_fetch', { url: 'https://a.test/' }, 'web_fetch_tool_result', {
      ...{ type: 'web_fetch_tool_result_error', error_code: 'url_not_accessible' },
    }),
  },
  'code that Anthropic runs to fetch a page without being offered by the app': {
    format: 'anthropic-messages',
    tools: { web_fetch: anthropic.tools.webFetch_20260209() },
    output: ran('code_execution', { code: 'fetch()' }, 'code_execution_tool_result', {
      ...{ type: 'code_execution_result', stdout: 'said 42', stderr: '', return_code: 0, content: [] },
    }),
    words: 'said 42',
  },
  'a cited page from Anthropic': {
    format: 'anthropic-messages',
    tools: { web_fetch: anthropic.tools.webFetch_20250910({ citations: { enabled: true } }) },
    output: [
      ...ran('web_fetch', { url: 'https://a.test/' }, 'web_fetch_tool_result', {
        ...{ type: 'web_fetch_result', url: 'https://a.test/', retrieved_at: null },
        content: {
          type: 'document',
          title: 'A',
          source: { type: 'text', media_type: 'text/plain', data: 'So it is.' },
        },
      }),
      {
        ...{ type: 'text', text: 'So.' },
        citations: [
          {
            ...{ type: 'char_location', cited_text: 'So', document_index: 0, document_title: 'A' },
            ...{ start_char_index: 0, end_char_index: 2, file_id: null },
          },
        ],
      },
    ],
    isCited: true,
  },
  'an OpenAI image tool selected by the tool choice': {
    format: 'openai-responses',
    tools: { draw: openai.tools.imageGeneration({ outputFormat: 'png' }) },
    requested: { toolChoice: { type: 'tool', toolName: 'draw' } },
    output: [{ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: PNG }],
    words: 'data:image/png;base64',
  },
  'code that OpenAI runs': {
    format: 'openai-responses',
    tools: { code: openai.tools.codeInterpreter({ container: { fileIds: ['file-1'] } }) },
    output: [
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
    requested: { providerOptions: { openai: { include: ['file_search_call.results'] } } },
    output: [
      {
        ...{ type: 'file_search_call', id: 'fs_1', status: 'completed', queries: ['why'] },
        results: [{ attributes: { my_own: 'x' }, file_id: 'file-1', filename: 'a.pdf', score: 0.9, text: 'So it is.' }],
      },
    ],
    words: 'So it is.',
  },
  'an MCP server that OpenAI calls': {
    format: 'openai-responses',
    tools: {
      mcp: openai.tools.mcp({
        ...{ serverLabel: 'dice', serverUrl: 'https://mcp.test/', headers: { 'X-Own': 'y' } },
        allowedTools: { toolNames: ['roll'] },
      }),
    },
    output: [
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
    output: [
      { executableCode: { language: 'PYTHON', code: 'print(42)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: 'said 42' } },
    ],
    words: 'said 42',
  },
}

/** Returns what an app receives, without IDs, the empty reasoning that OpenAI's package adds, and Anthropic's own metadata. */
function summarizePart(part: Awaited<ReturnType<typeof ai7.generateText>>['content'][number]): unknown[] {
  if (part.type === 'text') return [part.type, part.text]
  if (part.type === 'tool-call')
    return [part.type, part.toolName, part.input, part.providerExecuted, part.dynamic ?? false, 'invalid' in part]
  if (part.type === 'tool-result') return [part.type, part.toolName, part.output, part.providerExecuted]
  return part.type === 'tool-error' ? [part.type, part.toolName, part.error] : []
}

async function collectResult(ai: typeof ai7, requested: Sent, stream: boolean) {
  const { content, response, sources } = stream ? ai.streamText(requested) : await ai.generateText(requested)
  const parts = (await content).map(summarizePart).filter(({ length }) => length > 0)
  return {
    parts: JSON.parse(JSON.stringify(parts)),
    messages: (await response).messages,
    titles: (await sources).map(({ title }) => title),
  }
}

const getBody = (upstream: FakeUpstream): JsonObject => JSON.parse(upstream.calls.at(-1)?.body ?? '{}')

/** Sorts the entries of an unordered list. */
const sortKeys = (list: unknown): unknown[] =>
  Array.isArray(list) ? list.toSorted((a, b) => JSON.stringify(a).length - JSON.stringify(b).length) : []

for (const [label, input] of Object.entries(cases))
  test(`the call and the result match the AI SDK’s package for ${label}`, async () => {
    const { format, tools, isCited, words } = input
    const { model, create } = vendors[format]
    const { upstream, name, fetch } = await openBefore(format, answerOf(format, input.output))
    const callOptions = { prompt: 'Hi', maxRetries: 0, tools, ...input.requested }
    for (const stream of [false, true]) {
      const expected = await collectResult(ai7, { ...callOptions, model: create(upstream)(model) }, stream)
      assert.ok(expected.parts.length > 2, JSON.stringify(expected.parts))
      const recorded = getBody(upstream)
      for (const [ai, version] of [
        [ai7, 4],
        [ai6, 3],
      ] as const) {
        const models = ai.createGateway({ apiKey: 'x', baseURL: `http://gateway/v${version}/ai`, fetch })
        const received = await collectResult(ai, { ...callOptions, model: models(name) }, stream)
        assert.equal(received.parts, expected.parts, `${stream ? 'streamed' : 'not streamed'}, version ${version}`)
        if (isCited) assert.equal(received.titles, expected.titles)
        const body = getBody(upstream)
        assert.equal(sortKeys(body.tools), sortKeys(recorded.tools))
        assert.equal([body.tool_choice, body.toolConfig], [recorded.tool_choice, recorded.toolConfig])
        assert.equal(
          sortKeys(body.include).filter((name) => name !== 'reasoning.encrypted_content'),
          sortKeys(recorded.include),
        )
        if (words === undefined) continue
        const messages: ai7.ModelMessage[] = [...received.messages, { role: 'user', content: 'And now?' }]
        await collectResult(ai, { model: models(name), maxRetries: 0, tools, messages }, stream)
        assert.match(JSON.stringify(getBody(upstream)), words)
      }
    }
  })

test('a request that disables tool calls declares no vendor tools', async () => {
  const offered: Readonly<Record<HostFormat, ai7.ToolSet>> = {
    'openai-responses': { code: openai.tools.codeInterpreter() },
    'anthropic-messages': { run: anthropic.tools.codeExecution_20250825() },
    gemini: { code: google.tools.codeExecution({}) },
  }
  for (const [format, tools] of Object.entries(offered) as [HostFormat, ai7.ToolSet][]) {
    const { upstream, name, fetch } = await openBefore(format, answerOf(format, []))
    const model = ai7.createGateway({ apiKey: 'x', baseURL: 'http://gateway/v4/ai', fetch })(name)
    await ai7.generateText({ model, prompt: 'Hi', maxRetries: 0, tools: { ...tools, lookup }, toolChoice: 'none' })
    assert.match(JSON.stringify(getBody(upstream).tools), 'lookup')
    assert.not.match(JSON.stringify(getBody(upstream).tools), /code/i)
  }
})

test("later turns omit files and encrypted data from a vendor tool's output", async () => {
  const format = 'anthropic-messages'
  const { upstream, name, fetch } = await openBefore(format, answerOf(format, []))
  const model = ai7.createGateway({ apiKey: 'x', baseURL: 'http://gateway/v4/ai', fetch })(name)
  const data = 'JVBERi0xLjQK'.repeat(100)
  const call = { toolCallId: 'srvtoolu_1', toolName: 'web_fetch' }
  const source = { type: 'base64', mediaType: 'application/pdf', data }
  const value = { url: 'https://a.test/', content: { title: 'A fetched page', source } }
  const content: ai7.AssistantContent = [
    { type: 'tool-call', ...call, input: { url: 'https://a.test/' }, providerExecuted: true },
    { type: 'tool-result', ...call, output: { type: 'json', value } },
  ]
  const messages: ai7.ModelMessage[] = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content },
    { role: 'user', content: 'And now?' },
  ]
  await ai7.generateText({ model, maxRetries: 0, messages })
  assert.match(JSON.stringify(getBody(upstream)), 'A fetched page')
  assert.not.match(JSON.stringify(getBody(upstream)), data)
})

test('a file created by OpenAI’s code interpreter becomes a source with its ID', async () => {
  const format = 'openai-responses'
  const cited = { container_id: 'cntr_1', file_id: 'cfile_1', filename: 'plot.png', start_index: 0, end_index: 4 }
  const annotations = [{ type: 'container_file_citation', ...cited }]
  const output = [
    {
      ...{ type: 'message', id: 'msg_0', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: 'See.', annotations }],
    },
  ]
  const { name, fetch } = await openBefore(format, answerOf(format, output))
  const model = ai7.createGateway({ apiKey: 'x', baseURL: 'http://gateway/v4/ai', fetch })(name)
  for (const stream of [false, true]) {
    const callOptions = { model, prompt: 'Hi', maxRetries: 0, tools: { code: openai.tools.codeInterpreter() } }
    const [source] = await (stream ? ai7.streamText(callOptions) : await ai7.generateText(callOptions)).sources
    assert.equal(source?.providerMetadata, { signalbox: { fileId: 'cfile_1' } })
  }
})

test("another vendor's tool is dropped with a warning, or rejected if it is the only tool", async () => {
  const { upstream, name, fetch } = await openBefore('gemini', answerOf('gemini', []))
  const model = ai7.createGateway({ apiKey: 'x', baseURL: 'http://gateway/v4/ai', fetch })(name)
  const run = anthropic.tools.codeExecution_20250825()
  const error = await ai7.generateText({ model, prompt: 'Hi', maxRetries: 0, tools: { run } }).catch((reason) => reason)
  assert.is(error.statusCode, 400)
  const code = google.tools.codeExecution({})
  const { warnings } = await ai7.generateText({ model, prompt: 'Hi', maxRetries: 0, tools: { run, code } })
  assert.equal(getBody(upstream).tools, [{ codeExecution: {} }])
  assert.equal(
    warnings?.map((warning) => 'feature' in warning && warning.feature),
    ['tools[0]'],
  )
})
