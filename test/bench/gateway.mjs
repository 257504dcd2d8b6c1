import { createServer } from 'node:http'
import { createGateway } from 'signalbox'
import { toNodeHandler } from 'signalbox/node'
import { memoryStorage } from 'signalbox/storage/memory'
import { announce } from './process.ts'

/** The built gateway with all that a request costs: the key is checked, the name resolved, the usage told. */
const gateway = createGateway({ storage: memoryStorage(), hooks: { onUsage() {} } })
const baseUrl = `${process.env.PROVIDER}/v1`
for (const [prefix, provider] of [
  ['chat', 'openai-compatible-bench'],
  ['messages', 'anthropic-compatible-bench'],
]) {
  const apiKey = `provider-key-of-the-bench-for-${prefix}`
  await gateway.api.connections.create({ provider, apiKey, providerSpecificData: { prefix, baseUrl } })
}
await gateway.api.settings.update({ requireApiKey: true })
const { key } = await gateway.api.keys.create({ name: 'bench' })

const server = createServer({ noDelay: true }, (request, response) => {
  if (request.url === '/key') response.end(key)
  else handler(request, response)
})
const handler = toNodeHandler(gateway)
server.listen(0, '127.0.0.1', () => announce(server))
