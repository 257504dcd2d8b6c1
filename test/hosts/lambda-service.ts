import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { linkPackage } from '../runtimes/package-link.ts'

interface Invocation {
  id: string
  event: object
  res: ServerResponse
}

const HEAD_END = Buffer.alloc(8)
const DOMAIN = 'abcdefgh.lambda-url.eu-west-1.on.aws'
const here = new URL('.', import.meta.url)

/** Matches the content types of text bodies. All other bodies are sent as base64. */
const IS_TEXT = /^(?:text\/|application\/(?:json|javascript|xml))/

/**
 * Simulates AWS Lambda as closely as possible: a function URL with response streaming, and the runtime API behind it, with one environment at a time.
 * The environment is AWS's own Node runtime client (`aws-lambda-ric`) with a handler from `apps/`. As on Lambda, the function isn't notified when a
 * client disconnects, and errors that it reports mid-stream don't reach the client. Its process is frozen between requests, and killed if one takes
 * longer than `timeoutMs`. The next request starts a new process if the last one has ended.
 */
export async function startLambda(app: string, { timeoutMs = 60_000 } = {}) {
  await linkPackage(here)
  const waiting: Invocation[] = []
  const running = new Map<string, Invocation>()
  const exits: (number | null)[] = []
  let output = ''
  let child: ChildProcess | undefined
  let poll: ServerResponse | undefined

  const runtimeApi = await listen(async (req, res) => {
    const [, , , area, id = '', action] = req.url?.split('/') ?? []
    const invocation = running.get(id)
    if (area === 'invocation' && id === 'next') {
      poll = res
      child?.kill('SIGSTOP')
      deal()
    } else if (invocation && action === 'response') await relay(req, res, invocation)
    else {
      output += await read(req)
      invocation?.res.writeHead(502).end('Internal Server Error')
      res.writeHead(202).end()
    }
  })
  const functionUrl = await listen(async (req, res) => {
    waiting.push({ id: randomUUID(), event: getEvent(req, await read(req, 'base64')), res })
    child ??= startEnvironment()
    deal()
  })

  /** Passes the next request to the environment if it's polling for one. */
  function deal() {
    const invocation = poll && waiting.shift()
    if (!poll || !invocation) return
    child?.kill('SIGCONT')
    running.set(invocation.id, invocation)
    const killed = child
    const timer = setTimeout(() => killed?.kill('SIGKILL'), timeoutMs)
    invocation.res.on('close', () => running.has(invocation.id) || clearTimeout(timer))
    poll.setHeader('Lambda-Runtime-Aws-Request-Id', invocation.id)
    poll.setHeader('Lambda-Runtime-Deadline-Ms', Date.now() + timeoutMs)
    poll.setHeader('Lambda-Runtime-Invoked-Function-Arn', 'arn:aws:lambda:eu-west-1:123456789012:function:ai')
    poll.end(JSON.stringify(invocation.event))
    poll = undefined
  }

  function startEnvironment(): ChildProcess {
    const env = {
      ...process.env,
      AWS_LAMBDA_RUNTIME_API: runtimeApi.host,
      AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1: 'true',
      AWS_LAMBDA_FUNCTION_NAME: 'ai',
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
      AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/ai',
      AWS_LAMBDA_LOG_STREAM_NAME: 'environment',
      LAMBDA_TASK_ROOT: new URL('apps', here).pathname,
      _HANDLER: `${app}.handler`,
    }
    const args = ['--import', './apps/lambda-native.mjs', 'node_modules/aws-lambda-ric/index.mjs']
    const started = spawn(process.execPath, args, { cwd: here.pathname, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const kill = () => void started.kill('SIGKILL')
    process.once('exit', kill)
    for (const stream of [started.stdout, started.stderr])
      stream.on('data', (chunk) => {
        output += chunk
      })
    started.on('close', (code) => {
      process.off('exit', kill)
      exits.push(code)
      child = poll = undefined
      for (const { res } of running.values()) res.destroy()
      running.clear()
      if (waiting.length > 0) child = startEnvironment()
    })
    return started
  }

  async function relay(req: IncomingMessage, res: ServerResponse, { id, res: client }: Invocation) {
    try {
      let head = Buffer.alloc(0)
      for await (const chunk of req) {
        if (client.headersSent) client.write(chunk)
        else {
          head = Buffer.concat([head, chunk])
          const end = head.indexOf(HEAD_END)
          if (end < 0) continue
          const { statusCode, headers, cookies } = JSON.parse(head.subarray(0, end).toString())
          client.writeHead(statusCode, { ...headers, ...(cookies.length > 0 && { 'set-cookie': cookies }) })
          client.flushHeaders()
          const rest = head.subarray(end + HEAD_END.length)
          if (rest.length > 0) client.write(rest)
        }
      }
      running.delete(id)
      client.end()
      res.writeHead(202).end()
    } catch {
      client.destroy()
    }
  }

  return {
    url: functionUrl.origin,
    /** The exit codes of processes that have ended. */
    exits,
    /** The processes' output and error reports. */
    output: () => output,
    send: async () => null,
    async stop() {
      const ended = child && new Promise((resolve) => child?.on('close', resolve))
      child?.kill('SIGKILL')
      await ended
      functionUrl.close()
      runtimeApi.close()
    },
  }
}

async function listen(listener: RequestListener) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // a TCP server's address is never a string
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { host: `127.0.0.1:${port}`, origin: `http://127.0.0.1:${port}`, close }
}

async function read(req: IncomingMessage, encoding: BufferEncoding = 'utf8'): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk)
  return Buffer.concat(chunks).toString(encoding)
}

/** Returns the event for a request, in payload version 2.0. */
function getEvent({ headers, method, url = '/' }: IncomingMessage, base64: string): object {
  const [path, query = ''] = url.split('?', 2)
  const { cookie, ...others } = headers
  const isBase64Encoded = base64 !== '' && !IS_TEXT.test(headers['content-type'] ?? '')
  const body = isBase64Encoded ? base64 : Buffer.from(base64, 'base64').toString()
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: query,
    ...(cookie && { cookies: cookie.split('; ') }),
    headers: { ...others, host: DOMAIN, 'x-forwarded-proto': 'https' },
    requestContext: {
      apiId: 'abcdefgh',
      domainName: DOMAIN,
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1' },
      stage: '$default',
    },
    ...(body && { body }),
    isBase64Encoded,
  }
}
