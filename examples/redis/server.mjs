import cluster from 'node:cluster'
import { existsSync } from 'node:fs'

const GATEWAY_COUNT = 2

if (cluster.isPrimary) startAll()
else await import('./gateway.mjs')

/** Starts several gateway processes that share one port, and restarts any that exits. */
function startAll() {
  if (existsSync('.env')) process.loadEnvFile()
  const { REDIS_URL, SIGNALBOX_SECRET, SIGNALBOX_ADMIN_TOKEN, APP_KEY, OPENAI_API_KEY } = process.env
  const needed = { REDIS_URL, SIGNALBOX_SECRET, SIGNALBOX_ADMIN_TOKEN, APP_KEY, OPENAI_API_KEY }
  const missing = Object.entries(needed).filter(([, value]) => !value)
  if (missing.length > 0) {
    console.error(`Set ${missing.map(([name]) => name).join(', ')}: see README.md.`)
    process.exit(1)
  }

  let isStopping = false
  const listening = new Set()
  cluster.on('listening', (worker) => listening.add(worker.id))
  cluster.on('exit', (worker) => {
    if (isStopping) return
    if (!listening.delete(worker.id)) process.exit(1) // the process couldn't start, and has printed the reason
    cluster.fork()
  })
  for (let count = 0; count < GATEWAY_COUNT; count++) cluster.fork()

  process.once('SIGTERM', () => {
    isStopping = true
    for (const worker of Object.values(cluster.workers)) worker.process.kill('SIGTERM')
  })
}
