import { isObject, type JsonObject } from '../../src/lib/json.ts'
import { wireFormats } from '../../src/types/unions.ts'
import type { WireFormat } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { contexts } from './support/contexts.ts'
import { getTranslator } from './support/matrix.ts'
import { recordedExchanges } from './support/recordings.ts'

const test = suite('recorded responses with only text, reasoning, and calls')

interface Recorded {
  folder: string
  url: RegExp
  /** A field that every response has, and a field of responses with more than text, reasoning, and calls. */
  member: string
  more: RegExp
}

const recorded: Readonly<Record<WireFormat, Recorded>> = {
  'openai-chat': {
    folder: 'openai-compatible',
    url: /\/chat\/completions/,
    member: 'choices',
    more: /"(annotations|images|citations)":\[\{|"transcript":"./,
  },
  'openai-responses': {
    folder: 'openai-responses',
    url: /\/responses(?:\?|$)/,
    member: 'output',
    more: /"type":"(\w+_citation|(?!function_|custom_tool_)\w+_call|tool_search_\w+|mcp_\w+|compaction)"/,
  },
  'anthropic-messages': {
    folder: 'anthropic',
    url: /\/messages(?:\?|$)/,
    member: 'content',
    more: /"type":"(server_tool_use|mcp_\w+|\w+_location|\w+_tool_result)"|"stop_sequence":"/,
  },
  gemini: {
    folder: 'gemini',
    url: /:generateContent/,
    member: 'candidates',
    more: /"(groundingMetadata|inlineData|executableCode|codeExecutionResult|tool(Call|Response)|functionResponse)"|"MODEL_ARMOR"/,
  },
}

function getAnswers(format: WireFormat): { name: string; response: JsonObject }[] {
  const { folder, url, member, more } = recorded[format]
  return recordedExchanges([folder]).flatMap(({ name, url: requestUrl, status, response }) => {
    const isComplete = url.test(requestUrl) && status === 200 && isObject(response) && Array.isArray(response[member])
    return isComplete && !more.test(JSON.stringify(response)) ? [{ name, response }] : []
  })
}

for (const from of wireFormats)
  test(`responses from ${from} providers reach every client without loss`, async () => {
    const source = await getTranslator(from)
    const responses = getAnswers(from)
    assert.ok(responses.length > 200, `${responses.length} responses`)
    for (const to of wireFormats) {
      const client = await getTranslator(to)
      for (const { name, response } of responses) {
        const { read, write, responseWarnings } = contexts(source, { format: from })
        try {
          client.writeResponse(source.parseResponse(response, read), write({ options: { stop: ['a', 'b'] } }))
        } catch {
          continue // a response that reports its own failure
        }
        assert.equal(responseWarnings.list(), [], `${name} for ${to}`)
      }
    }
  })
