import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { toLambdaHandler } from '../../adapters/mount/lambda.ts'
import type {
  LambdaHead,
  LambdaResponseStream,
  LambdaRuntime,
  LambdaUrlEvent,
} from '../../adapters/types/lambda-types.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the Lambda function URL handler')

const awslambda: LambdaRuntime = {
  streamifyResponse: (handler) => handler,
  HttpResponseStream: {
    from(stream, head) {
      heads.set(stream, head)
      return stream
    },
  },
}
const heads = new WeakMap<LambdaResponseStream, LambdaHead>()

test.before(() => void Object.assign(globalThis, { awslambda }))
test.after(() => void Reflect.deleteProperty(globalThis, 'awslambda'))

const getEvent = (method: string, event: Partial<LambdaUrlEvent> = {}): LambdaUrlEvent => ({
  rawPath: '/ai/v1/models',
  rawQueryString: '',
  headers: { host: 'fn.example' },
  requestContext: { domainName: 'fn.example', http: { method } },
  ...event,
})

/** Calls the function and returns Lambda's result. */
async function invoke(
  fetch: (request: Request, ...platform: unknown[]) => Promise<Response>,
  event: LambdaUrlEvent,
  stream = new PassThrough(),
) {
  const chunks: Buffer[] = []
  stream.on('data', (chunk) => chunks.push(chunk))
  await toLambdaHandler({ fetch })(event, stream, { getRemainingTimeInMillis: () => 60_000 })
  return { ...heads.get(stream), body: Buffer.concat(chunks).toString(), isEnded: stream.writableEnded }
}

/** Resolves to the request that the gateway receives for an event. */
async function requestFor(event: LambdaUrlEvent): Promise<Request> {
  let request: Request | undefined
  await invoke(async (input) => {
    request = input
    return new Response()
  }, event)
  assert.ok(request)
  return request
}

test('the function URL handler converts the event to a request', async () => {
  const request = await requestFor(
    getEvent('POST', {
      rawPath: '/ai/v1/a%2Fb c',
      rawQueryString: 'a=1&a=2&b=%20',
      headers: { 'content-type': 'application/json', 'x-one': 'a,b', 'x-none': undefined },
      cookies: ['a=1', 'b=2'],
      body: '{"name":"Zoë"}',
    }),
  )
  assert.is(request.method, 'POST')
  assert.is(request.url, 'https://fn.example/ai/v1/a%2Fb%20c?a=1&a=2&b=%20')
  assert.equal(Object.fromEntries(request.headers), {
    'content-type': 'application/json',
    cookie: 'a=1; b=2',
    'x-one': 'a,b',
  })
  assert.equal(await request.json(), { name: 'Zoë' })
})

test('the function URL handler keeps leading slashes in the path, and encodes question marks', async () => {
  assert.is(
    (await requestFor(getEvent('GET', { rawPath: '//evil.example/x' }))).url,
    'https://fn.example//evil.example/x',
  )
  assert.is((await requestFor(getEvent('GET', { rawPath: '/a?b' }))).url, 'https://fn.example/a%3Fb')
})

test('the function URL handler passes headers beyond Latin-1 as the bytes that the client sent', async () => {
  const request = await requestFor(getEvent('GET', { headers: { 'x-city': 'Łódź', 'x-other': 'Zoë' } }))
  assert.is(Buffer.from(request.headers.get('x-city') ?? '', 'latin1').toString(), 'Łódź')
  assert.is(request.headers.get('x-other'), 'Zoë')
})

test('the function URL handler accepts base64 bodies', async () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
  const event = getEvent('POST', { body: Buffer.from(bytes).toString('base64'), isBase64Encoded: true })
  assert.equal(new Uint8Array(await (await requestFor(event)).arrayBuffer()), bytes)
})

test("the function URL handler drops a GET body, which a Request can't have", async () => {
  assert.is((await requestFor(getEvent('GET', { body: 'x' }))).body, null)
})

test('the function URL handler returns a 400 for an invalid request', async () => {
  for (const event of [
    getEvent('TRACE'),
    getEvent('GET', { headers: { 'x-name': 'a\nb' } }),
    getEvent('POST', { body: '%', isBase64Encoded: true }),
    getEvent('GET', { requestContext: { domainName: 'a b', http: { method: 'GET' } } }),
  ]) {
    const { statusCode, body } = await invoke(async () => new Response(), event)
    assert.is(statusCode, 400)
    assert.equal(JSON.parse(body), { error: 'The request is malformed.' })
  }
})

test('the function URL handler returns the status, the headers, and each cookie to Lambda', async () => {
  const headers = new Headers({ 'content-type': 'text/plain', connection: 'close' })
  headers.append('set-cookie', 'a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT')
  headers.append('set-cookie', 'b=2')
  const response = await invoke(async () => new Response('no', { status: 404, headers }), getEvent('GET'))
  assert.equal(response, {
    statusCode: 404,
    headers: { 'content-type': 'text/plain' },
    cookies: ['a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 'b=2'],
    body: 'no',
    isEnded: true,
  })
})

test('the function URL handler ends responses that have no body', async () => {
  const { statusCode, body, isEnded } = await invoke(async () => new Response(null, { status: 204 }), getEvent('HEAD'))
  assert.equal([statusCode, body, isEnded], [204, '', true])
})

test('the function URL handler passes on the event, the context, and waitUntil, like a Worker', async () => {
  const event = getEvent('GET')
  let platform: unknown[] = []
  await invoke(async (_, ...input) => {
    platform = input
    return new Response()
  }, event)
  const [env, context] = platform
  assert.is(Object(env).event, event)
  assert.type(Object(env).context.getRemainingTimeInMillis, 'function')
  assert.type(Object(context).waitUntil, 'function')
})

/** Creates an endless body that counts the chunks pulled from it. */
function endless() {
  const seen = { pulled: 0, canceled: false }
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        seen.pulled += 1
        controller.enqueue(new Uint8Array(1_000))
      },
      cancel() {
        seen.canceled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { seen, body }
}

test('the function URL handler applies backpressure, and cancels the body when Lambda stops reading', async () => {
  const { seen, body } = endless()
  const stream = new PassThrough({ highWaterMark: 10_000 })
  let signal: AbortSignal | undefined
  const fetch = async (request: Request) => {
    signal = request.signal
    return new Response(body)
  }
  const invoked = toLambdaHandler({ fetch })(getEvent('GET'), stream, { getRemainingTimeInMillis: () => 60_000 }).then(
    () => 'ended',
    () => 'cut',
  )
  while (!stream.writableNeedDrain) await new Promise((resolve) => setImmediate(resolve))
  const { pulled } = seen
  await new Promise((resolve) => setImmediate(resolve))
  assert.is(seen.pulled, pulled)
  assert.ok(pulled < 50, `${pulled} pieces`)
  stream.destroy()
  assert.is(await invoked, 'cut')
  assert.ok(seen.canceled)
  assert.ok(signal?.aborted)
})

test('the function URL handler aborts the response if the body breaks off', async () => {
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new Uint8Array(1)),
    pull: (controller) => controller.error(new Error('broken')),
  })
  const stream = new PassThrough()
  const closed = once(stream, 'close').catch((error: Error) => error.message)
  const end = await invoke(async () => new Response(body), getEvent('GET'), stream).then(() => 'ended', String)
  assert.match(end, 'broken')
  assert.is(await closed, 'The response was cut off.')
  assert.not(stream.writableEnded)
})

test("outside Lambda, the function URL handler's error states where it can run", () => {
  Reflect.deleteProperty(globalThis, 'awslambda')
  try {
    assert.throws(
      () => toLambdaHandler({ fetch: async () => new Response() }),
      /only runs in the Node runtimes of AWS Lambda/,
    )
  } finally {
    Object.assign(globalThis, { awslambda })
  }
})
