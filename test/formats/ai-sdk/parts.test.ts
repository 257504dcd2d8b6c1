import { anthropic } from '@ai-sdk/anthropic'
import { openai } from '@ai-sdk/openai'
import * as ai7 from 'ai'
import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { ai6 } from '../../pipeline/support/sdk/clients/ai.ts'
import { outputBy } from '../../pipeline/support/sdk/gateway.ts'
import { getOutput, type ModelResponse } from '../../pipeline/support/sdk/model-output.ts'
import { fakeUpstream, json, sse } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const targets: Readonly<Record<WireFormat, [provider: string, model: string]>> = {
  'openai-chat': ['openai', 'gpt-4.1'],
  'openai-responses': ['openai', 'gpt-5.6'],
  'anthropic-messages': ['anthropic', 'claude-sonnet-4-5'],
  gemini: ['google', 'gemini-3-pro-preview'],
}

type Full = object
type ModelOutput = { whole: Full; events: string[] }

for (const [name, ai, version] of [
  ['AI SDK 7', ai7, 4],
  ['AI SDK 6', ai6, 3],
] as const) {
  const test = suite(`parts of ${name}`)

  /** Creates a model that returns these responses in order, repeats the last one, and records its requests. */
  async function getModel(format: WireFormat, ...responses: ModelOutput[]) {
    const [provider, id] = targets[format]
    const upstream = fakeUpstream(({ url, body }, index) => {
      const { whole, events } = responses[Math.min(index, responses.length) - 1] ?? outputBy(format).response
      return url.pathname.includes(':stream') || JSON.parse(body).stream ? sse(events) : json(whole)
    })
    const { gateway } = await openWorld({
      fetch: upstream,
      catalog: { [provider]: { baseUrl: 'http://one.test/v1', format, models: [{ id }] } },
      connections: [provider],
    })
    const models = ai.createGateway({ apiKey: 'x', baseURL: `http://gateway/v${version}/ai`, fetch: gateway.fetch })
    return {
      model: models(`${provider}/${id}`),
      asked: () => JSON.stringify(JSON.parse(upstream.calls.at(-1)?.body ?? '{}')),
      betas: () => upstream.calls.at(-1)?.headers.get('anthropic-beta'),
    }
  }

  /** Returns the content of a complete or streamed response. */
  async function getContent(stream: boolean, requested: Parameters<typeof ai7.generateText>[0]) {
    const once = { ...requested, maxRetries: 0 }
    return stream ? await ai.streamText(once).content : (await ai.generateText(once)).content
  }

  const modelOutput = (format: WireFormat, ...blocks: ModelResponse['blocks']) => getOutput(format, { blocks })
  const createOutputs = (format: WireFormat, call: { name: string; input: JsonObject }): ModelOutput[] => [
    getOutput(format, { blocks: [{ type: 'call', id: 'call_1', ...call }], finish: 'calls' }),
    modelOutput(format, { type: 'text', text: 'Done.' }),
  ]

  for (const stream of [false, true]) {
    const manner = stream ? 'streamed' : 'not streamed'

    test(`a cited document becomes a source with its name, position, and quote (${manner})`, async () => {
      const { model } = await getModel(
        'anthropic-messages',
        modelOutput('anthropic-messages', {
          type: 'text',
          text: 'So it is.',
          citations: [{ document: 1, quote: 'it is' }],
        }),
      )
      const pdf = (filename: string) => ({
        type: 'file' as const,
        mediaType: 'application/pdf',
        data: btoa('%PDF-1.4'),
        filename,
      })
      const providerOptions = { anthropic: { citations: { enabled: true } } }
      const content = [
        { ...pdf('a.pdf'), providerOptions },
        { ...pdf('b.pdf'), providerOptions },
      ]
      const sources = (await getContent(stream, { model, messages: [{ role: 'user', content }] })).filter(
        ({ type }) => type === 'source',
      )
      assert.equal(sources, [
        {
          type: 'source',
          id: 'source-0',
          sourceType: 'document',
          mediaType: 'application/pdf',
          title: 'b.pdf',
          filename: 'b.pdf',
          providerMetadata: { signalbox: { citedText: 'it is', place: { unit: 'page', start: 1, end: 2 } } },
        },
      ])
    })

    for (const format of wireFormats)
      test(`a tool defined by Anthropic works (${format} model, ${manner})`, async () => {
        const { model, asked } = await getModel(
          format,
          ...createOutputs(format, { name: 'bash', input: { command: 'ls' } }),
        )
        const ran: unknown[] = []
        const execute = async ({ command }: { command: string }) => {
          ran.push(command)
          return 'a.txt'
        }
        const tools = { bash: anthropic.tools.bash_20250124({ execute }) as unknown as ai7.Tool } // both versions return the same content
        const all = { model, prompt: 'Hi', tools, stopWhen: ai.isStepCount(2) }
        assert.is(Object((await getContent(stream, all)).at(-1)).text, 'Done.')
        assert.equal(ran, ['ls'])
        assert.match(asked(), 'a.txt')
        if (format === 'anthropic-messages') assert.match(asked(), '"type":"bash_20250124"')
      })

    test(`an image from a tool keeps the detail set in its options (${manner})`, async () => {
      const modelOutput = createOutputs('openai-responses', { name: 'look', input: {} })
      const { model, asked } = await getModel('openai-responses', ...modelOutput)
      const image = { mediaType: 'image/png', providerOptions: { openai: { imageDetail: 'low' } } }
      const look = ai.tool({
        inputSchema: ai.jsonSchema<object>({ type: 'object', properties: {} }),
        execute: async () => 'seen',
        toModelOutput: () => ({ type: 'content', value: [{ type: 'image-data', data: 'iVBORw0KGgo=', ...image }] }),
      })
      await getContent(stream, { model, prompt: 'Hi', tools: { look }, stopWhen: ai.isStepCount(2) })
      assert.match(asked(), '"type":"input_image","detail":"low"')
    })

    test(`Anthropic's computer tool works with Anthropic models (${manner})`, async () => {
      const input = { action: 'left_click', coordinate: [1, 2] }
      const modelOutput = createOutputs('anthropic-messages', { name: 'computer', input })
      const { model, asked, betas } = await getModel('anthropic-messages', ...modelOutput)
      const ran: unknown[] = []
      const execute = async (action: unknown) => void ran.push(action)
      const computer = anthropic.tools.computer_20250124({ displayWidthPx: 800, displayHeightPx: 600, execute })
      const tools = { computer: computer as unknown as ai7.Tool } // both versions return the same content
      const content = await getContent(stream, { model, prompt: 'Hi', tools, stopWhen: ai.isStepCount(2) })
      assert.is(Object(content.at(-1)).text, 'Done.')
      assert.equal(ran, [input])
      assert.match(
        asked(),
        '{"type":"computer_20250124","name":"computer","display_width_px":800,"display_height_px":600}',
      )
      assert.is(betas(), 'computer-use-2025-01-24')
    })

    for (const format of wireFormats)
      test(`tools defined by OpenAI work (${format} model, ${manner})`, async () => {
        const ran: unknown[] = []
        const outputs = {
          local_shell: { output: 'a.txt' },
          shell: { output: [{ stdout: 'a.txt', stderr: '', outcome: { type: 'exit' as const, exitCode: 0 } }] },
          apply_patch: { status: 'completed' as const, output: 'a.txt' },
        }
        const run =
          <T>(output: T) =>
          async (input: unknown) => {
            ran.push(input)
            return output
          }
        const tools = {
          local_shell: openai.tools.localShell({ execute: run(outputs.local_shell) }),
          shell: openai.tools.shell({ execute: run(outputs.shell) }),
          apply_patch: openai.tools.applyPatch({ execute: run(outputs.apply_patch) }),
        } as unknown as ai7.ToolSet // both versions return the same content
        const inputs: Record<string, JsonObject> = {
          local_shell: { action: { type: 'exec', command: ['ls'] } },
          shell: { action: { commands: ['ls'] } },
          apply_patch: { callId: 'p', operation: { type: 'delete_file', path: 'a.txt' } },
        }
        for (const [called, input] of Object.entries(inputs)) {
          const { model, asked } = await getModel(format, ...createOutputs(format, { name: called, input }))
          const all = { model, prompt: 'Hi', tools, stopWhen: ai.isStepCount(2) }
          assert.is(Object((await getContent(stream, all)).at(-1)).text, 'Done.')
          assert.equal(ran.at(-1), input)
          assert.match(asked(), 'a.txt')
        }
      })

    test(`OpenAI's free-form tool receives text, and its call is sent back as text (${manner})`, async () => {
      const item = { type: 'custom_tool_call', id: 'c', call_id: 'call_1', name: 'write', input: 'two words' }
      const response = (output: object[]) => ({ id: 'r', object: 'response', status: 'completed', model: 'm', output })
      const event = (type: string, extra: object) =>
        `data: ${JSON.stringify({ type: `response.${type}`, ...extra })}\n\n`
      const call: ModelOutput = {
        whole: response([item]),
        events: [
          event('created', { response: response([]) }),
          event('output_item.added', { output_index: 0, item: { ...item, input: '' } }),
          event('custom_tool_call_input.delta', { output_index: 0, item_id: 'c', delta: 'two ' }),
          event('custom_tool_call_input.delta', { output_index: 0, item_id: 'c', delta: 'words' }),
          event('output_item.done', { output_index: 0, item }),
          event('completed', { response: response([item]) }),
        ],
      }
      const { model, asked } = await getModel(
        'openai-responses',
        call,
        modelOutput('openai-responses', { type: 'text', text: 'Done.' }),
      )
      const ran: unknown[] = []
      const execute = async (input: string) => void ran.push(input)
      const write = openai.tools.customTool({ description: 'Writes.', execute }) as unknown as ai7.Tool // both versions return the same content
      const all = { model, prompt: 'Hi', tools: { write }, stopWhen: ai.isStepCount(2) }
      assert.is(Object((await getContent(stream, all)).at(-1)).text, 'Done.')
      assert.equal(ran, ['two words'])
      assert.match(asked(), '{"type":"custom_tool_call","call_id":"call_1","name":"write","input":"two words"}')
      assert.match(asked(), '"type":"custom_tool_call_output"')
    })

    test(`a text part's phase is sent back to OpenAI (${manner})`, async () => {
      const { whole, events } = modelOutput('openai-responses', { type: 'text', text: 'I look.' })
      const mark = (text: string) => text.replaceAll('"role":"assistant"', '"role":"assistant","phase":"commentary"')
      const marked = { whole: JSON.parse(mark(JSON.stringify(whole))), events: events.map(mark) }
      const { model, asked } = await getModel('openai-responses', marked)
      const first = { model, prompt: 'Hi', maxRetries: 0 }
      const { messages } = stream ? await ai.streamText(first).response : (await ai.generateText(first)).response
      const extra: ai7.ModelMessage[] = [
        { role: 'user', content: 'Hi' },
        ...messages,
        { role: 'user', content: 'And?' },
      ]
      await getContent(false, { model, messages: extra })
      assert.match(asked(), '"phase":"commentary"')
    })

    test(`audio is returned with its transcript (${manner})`, async () => {
      const audio = { id: 'a', data: btoa('sound'), expires_at: 1, transcript: 'Hello.' }
      const head = { id: 'c', created: 1, model: 'm' }
      const chunk = (delta: object, finish_reason: string | null) =>
        `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
      const { model } = await getModel('openai-chat', {
        whole: {
          ...head,
          object: 'chat.completion',
          choices: [{ index: 0, message: { role: 'assistant', content: null, audio }, finish_reason: 'stop' }],
        },
        events: [chunk({ role: 'assistant', audio }, null), chunk({}, 'stop'), 'data: [DONE]\n\n'],
      })
      const content = await getContent(stream, { model, prompt: 'Hi' })
      assert.equal(
        content.map((part) => (part.type === 'text' ? part.text : part.type)),
        ['Hello.', 'file'],
      )
    })
  }
}
