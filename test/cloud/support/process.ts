import { writeSync } from 'node:fs'
import { createServer } from 'node:http'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { buffer } from 'node:stream/consumers'
import { fileStorage } from '../../../adapters/storage/file.ts'
import { createCloudProxy } from '../../../src/features/cloud-sync/proxy/proxy.ts'
import { createGateway } from '../../../src/gateway.ts'

/*
 * Runs one side of cloud sync as a process on a file store: `process <home or cloud> <folder> <secret> <enrollment token> <port>`. It prints "ready"
 * with its port. The cloud listens on the given port, or on any free port for 0. Each input line is a call of its `api`: `[number, "keys.create",
 * ...arguments]`. The process prints `<number> <result>`, with the result as JSON. The cloud's `api` is that of its only tenant.
 */

const [side = '', path = '', secret = '', enrollmentToken = '', port = ''] = process.argv.slice(2)
const storage = fileStorage({ path, logger: false })
let listening = 0
const api = side === 'home' ? openHome() : await openCloud()

process.stdout.on('error', () => process.exit())
print(`ready ${listening}`)
for await (const line of createInterface({ input: process.stdin })) {
  const [number, name, ...args]: [number, string, ...unknown[]] = JSON.parse(line)
  void call(name, args).then(
    (result) => print(`${number} ${JSON.stringify(result ?? null)}`),
    (error: unknown) => print(`${number} ${JSON.stringify({ failed: String(error) })}`),
  )
}
process.exit()

function openHome() {
  const gateway = createGateway({ storage, secret, logger: false })
  return async () => gateway.api as object
}

async function openCloud() {
  const proxy = createCloudProxy({ storage, secret, enrollmentToken, logger: false })
  const server = createServer(async (req, res) => {
    const body = await buffer(req)
    const response = await proxy.fetch(
      new Request(`http://127.0.0.1:${port}${req.url}`, {
        method: req.method ?? 'GET',
        headers: Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)]),
        ...(body.length > 0 && { body: new Uint8Array(body) }),
      }),
    )
    res.writeHead(response.status, Object.fromEntries(response.headers))
    res.end(await buffer(response.body ?? new ReadableStream({ start: (empty) => empty.close() })))
  })
  await new Promise<void>((resolve) => void server.listen(Number(port), '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address === 'object' && address) listening = address.port
  return async () => {
    const [tenant] = (await proxy.tenants.list()).tenants
    if (!tenant) throw new Error('There is no tenant yet.')
    return proxy.tenant(tenant.id).api as object
  }
}

/** Calls the API function with this name, such as `keys.create`. */
async function call(name: string, args: unknown[]): Promise<unknown> {
  let found: unknown = await api()
  let holder: unknown
  for (const part of name.split('.')) {
    holder = found
    found = typeof found === 'object' && found !== null ? Reflect.get(found, part) : undefined
  }
  if (typeof found !== 'function') throw new TypeError(`There is no ${name}.`)
  return Reflect.apply(found, holder, args)
}

function print(line: string): void {
  writeSync(1, `${line}\n`)
}
