import { registerHooks } from 'node:module'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as built from '../../dist/index.js'
import { memoryStorage } from '../../dist/storage/memory.js'

// Starts a gateway from a folder, sends one request of the given kind, and prints the response status and the files that were loaded from the folder.
const [, , folder, kind] = process.argv
const loaded = []
registerHooks({
  load(url, context, next) {
    if (url.startsWith(pathToFileURL(folder).href)) loaded.push(basename(url))
    return next(url, context)
  },
})
const load = (name) => import(pathToFileURL(join(folder, name)).href)
const { createGateway } = await load('index.js')

const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}
const failure = { error: { message: 'The server had an error.', type: 'server_error', param: null, code: null } }
const fails = kind === 'failing'
const streams = kind === 'streamed'
const { message, ...choice } = completion.choices[0]
const chunk = { ...completion, object: 'chat.completion.chunk', choices: [{ ...choice, delta: message }] }
const events = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`
const storage = memoryStorage()
const fetch = async () =>
  streams
    ? new Response(events, { headers: { 'content-type': 'text/event-stream' } })
    : Response.json(fails ? failure : completion, { status: fails ? 500 : 200 })

// The connection is created with the built package, so the loaded files don't include management code.
const administration = built.createGateway({ storage, fetch, logger: false })
await administration.api.connections.create({ provider: 'openai', apiKey: 'sk-1' })
await administration.close()

const [path, more] = kind === 'translated' ? ['messages', { max_tokens: 9 }] : ['chat/completions', { stream: streams }]
const body = JSON.stringify({ model: 'openai/gpt-5-mini', messages: [{ role: 'user', content: 'Hi' }], ...more })
const headers = { 'content-type': 'application/json' }
const gateway = createGateway({ storage, fetch, logger: false })
const response = await gateway.fetch(new Request(`http://gateway/v1/${path}`, { method: 'POST', headers, body }))
await response.text()
console.log(JSON.stringify({ status: response.status, loaded }))
await gateway.close()
