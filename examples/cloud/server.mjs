import { existsSync } from 'node:fs'
import { createCloudProxy } from 'signalbox/cloud'
import { serveNode } from 'signalbox/node'
import { fileStorage } from 'signalbox/storage/file'

if (existsSync('.env')) process.loadEnvFile()
const { SIGNALBOX_SECRET, SIGNALBOX_ENROLLMENT_TOKEN, CLOUD_HOST, PORT = '8787' } = process.env
if (!SIGNALBOX_SECRET || !SIGNALBOX_ENROLLMENT_TOKEN) {
  console.error('Set SIGNALBOX_SECRET, SIGNALBOX_ENROLLMENT_TOKEN: see README.md.')
  process.exit(1)
}

const proxy = createCloudProxy({
  storage: fileStorage('./data'),
  secret: SIGNALBOX_SECRET,
  enrollmentToken: SIGNALBOX_ENROLLMENT_TOKEN,
})
const allowedHosts = CLOUD_HOST ? [CLOUD_HOST] : [] // the hostname of the TLS server in front of this one
const server = await serveNode(proxy, { port: Number(PORT), allowedHosts })
console.log(server.url)

process.once('SIGTERM', async () => {
  await server.close()
  await proxy.close()
})
