import { assert, suite } from '../support/suite.ts'
import { chatResponse } from './support/responses.ts'
import { json } from './support/upstream.ts'
import { openWorld, token } from './support/world.ts'

/*
 * In @hono/node-server before 2.1.9, requests and responses have the platform's prototype, and forward the members they know to a real object. They
 * inherit a `bytes()` that rejects, because the wrapper itself isn't a real request or response.
 */

const test = suite('apps with a request or response that inherits bytes() from the platform')

const passedOn = ['method', 'url', 'headers', 'body', 'bodyUsed', 'signal', 'status', 'ok'] as const
const methods = ['arrayBuffer', 'json', 'text'] as const

function lightweight<Message extends Request | Response>(real: Message, prototype: object): Message {
  const members: PropertyDescriptorMap = {}
  for (const name of passedOn) members[name] = { get: () => Reflect.get(real, name) }
  for (const name of methods) members[name] = { value: () => real[name]() }
  return Object.create(prototype, members)
}

const body = JSON.stringify({ model: 'one/m', messages: [{ role: 'user', content: 'Hi' }] })
const request = (headers: Record<string, string>) => {
  const real = new Request('http://gateway/v1/chat/completions', { method: 'POST', headers, body })
  return lightweight(real, Request.prototype)
}

for (const [name, length] of [
  ['of known length', { 'content-length': String(body.length) }],
  ['of unknown length', {}],
] as const) {
  test(`the gateway reads a request body ${name} if the app's request and response inherit bytes()`, async () => {
    const world = await openWorld({ fetch: async () => json(chatResponse()) })
    const response = await world.gateway.fetch(request({ 'content-type': 'application/json', ...length }))
    assert.is(response.status, 200, await response.text())
  })

  test(`the gateway reads a response body ${name} if the app's request and response inherit bytes()`, async () => {
    const text = JSON.stringify(chatResponse('Hello'))
    const headers = {
      'content-type': 'application/json',
      ...(name === 'of known length' && { 'content-length': String(text.length) }),
    }
    const fetch = async () => lightweight(new Response(text, { headers }), Response.prototype)
    const world = await openWorld({ fetch })
    const response = await world.chat({ model: 'one/m' })
    assert.is(response.status, 200)
    assert.match(await response.text(), 'Hello')
  })
}

const read = suite('requests with a body that the app has already read')

for (const path of ['/v1/chat/completions', '/api/keys']) {
  read(`an already consumed request body sent to ${path} fails with advice and is reported to onError`, async () => {
    const world = await openWorld()
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const request = new Request(`http://gateway${path}`, { method: 'POST', headers, body })
    await request.text()
    const response = await world.gateway.fetch(request)
    assert.is(response.status, 500)
    const { error } = await response.json()
    assert.match(typeof error === 'string' ? error : error.message, 'Mount the gateway before any body parser')
    assert.match(String(world.recorded.errors[0]), 'was read before it reached the gateway')
  })
}
