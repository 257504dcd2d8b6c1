import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isObject, type JsonObject } from '../../src/lib/json.ts'

/** A tool call by the mocked model. */
export interface MockedCall {
  name: string
  arguments: JsonObject
}

interface Script {
  /** The prompt that triggers the call. */
  request: string
  call: MockedCall
  /** The word that the call's result contains. */
  word: string
}

const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 }

/**
 * Starts a Chat Completions provider on loopback that has no web search. Its model makes the scripted call if the client offers that tool, and then
 * says whether it has read the word.
 */
export async function startProvider(script: Script) {
  const server = createServer(async (req, res) => {
    let text = ''
    for await (const part of req.setEncoding('utf8')) text += part
    const body: unknown = JSON.parse(text)
    if (isObject(body)) respond(res, body.stream === true, messageFor(body, script))
    else res.writeHead(400).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // a TCP server's address is never a string
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function messageFor({ messages, tools }: JsonObject, { request, call, word }: Script): JsonObject {
  const output = Array.isArray(messages) ? messages.filter(isObject) : []
  const result = output.findLast(({ role }) => role === 'tool')
  if (result)
    return { content: JSON.stringify(result.content).includes(word) ? `I have read ${word}.` : 'I read nothing.' }
  const isRequested = JSON.stringify(output).includes(request)
  const isOffered = JSON.stringify(tools ?? []).includes(`"name":"${call.name}"`)
  if (!isRequested || !isOffered) return { content: 'Something else.' } // such as a request to generate a conversation title
  const callee = { name: call.name, arguments: JSON.stringify(call.arguments) }
  return { content: null, tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: callee }] }
}

function respond(res: ServerResponse, isStream: boolean, message: JsonObject) {
  const finish_reason = message.tool_calls ? 'tool_calls' : 'stop'
  const head = { id: 'chatcmpl-1', created: 1, model: 'm' }
  const output = { role: 'assistant', ...message }
  if (!isStream) {
    const choices = [{ index: 0, message: output, finish_reason }]
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage }))
    return
  }
  const chunk = (fields: object) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...fields })}\n\n`
  res.writeHead(200, { 'content-type': 'text/event-stream' })
  res.write(chunk({ choices: [{ index: 0, delta: output, finish_reason: null }] }))
  res.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason }] }))
  res.end(`${chunk({ choices: [], usage })}data: [DONE]\n\n`)
}
