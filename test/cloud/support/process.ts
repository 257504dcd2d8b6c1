import { writeSync } from 'node:fs'
import { createServer } from 'node:http'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { buffer } from 'node:stream/consumers'
import { fileStorage } from '../../../adapters/storage/file.ts'
import { createCloudProxy } from '../../../src/cloud/proxy.ts'
import { createGateway } from '../../../src/gateway.ts'

/*
 * One end of a mirror as a process of its own, on a file store: `process <home or cloud> <folder> <secret> <enrolment> <port>`. It says "ready"
 * with its port: the cloud listens on the one that it was given, or on any for 0. Each line of its input is a call of its `api`,
 * `[number, "keys.create", ...arguments]`; it answers `<number> <result>`, the result as JSON. The `api` of the cloud is that of its one tenant.
 */

const [side = '', path = '', secret = '', enrolment = '', port = ''] = process.argv.slice(2)
const storage = fileStorage({ path, logger: false })
let listening = 0
const api = side === 'home' ? openHome() : await openCloud()

process.stdout.on('error', () => process.exit())
say(`ready ${listening}`)
for await (const line of createInterface({ input: process.stdin })) {
  const [number, name, ...args]: [number, string, ...unknown[]] = JSON.parse(line)
  void call(name, args).then(
    (result) => say(`${number} ${JSON.stringify(result ?? null)}`),
    (error: unknown) => say(`${number} ${JSON.stringify({ failed: String(error) })}`),
  )
}
process.exit()

function openHome() {
  const gateway = createGateway({ storage, secret, logger: false })
  return async () => gateway.api as object
}

async function openCloud() {
  const proxy = createCloudProxy({ storage, secret, enrolment, logger: false })
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

/** Calls the function of the api that has this name, such as `keys.create`. */
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

function say(line: string): void {
  writeSync(1, `${line}\n`)
}
