import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { skip } from '../support/suite.ts'

/** A Redis server for tests: `SIGNALBOX_TEST_REDIS_URL`, or one started here on its own port. */
export interface RedisServer {
  url: string
  port: number
  /** Restarts the server with its data after `kill`. Only available if the server was started here. */
  start(): Promise<void>
  /** Kills the server immediately, like a crash. */
  kill(): Promise<void>
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
  remove(): Promise<void>
}

/** Skips the file with a reason if no server is available. */
export async function findRedis(): Promise<Pick<RedisServer, 'url' | 'remove'> & { isOwn: boolean }> {
  const url = process.env.SIGNALBOX_TEST_REDIS_URL
  return url ? { url, remove: async () => {}, isOwn: false } : { ...(await startRedis()), isOwn: true }
}

/** Starts a server that can be killed. Skips the file with a reason if its binary isn't available. */
export async function startRedis(...options: string[]): Promise<RedisServer> {
  if (!hasProgram()) skip('there is no Redis: install redis-server, or name a server in SIGNALBOX_TEST_REDIS_URL')
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-redis-'))
  const port = await findFreePort()
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '']
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...durable, ...options]
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    child = spawn('redis-server', args, { stdio: 'ignore' })
    for (let tries = 0; tries < 200; tries++) {
      if (await answers(port)) return
      await sleep(25)
    }
    throw new Error('Redis did not start within 5 s')
  }

  async function kill(): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    start,
    kill,
    signal: (signal) => void child?.kill(signal),
    async remove() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Starts a one-node cluster, which looks like any cluster to clients. */
export async function startCluster(): Promise<RedisServer> {
  const server = await startRedis('--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1')
  await answers(server.port, 'CLUSTER ADDSLOTSRANGE 0 16383', '+OK')
  for (let tries = 0; tries < 200; tries++) {
    if (await answers(server.port, 'CLUSTER INFO', 'cluster_state:ok')) return server
    await sleep(25)
  }
  throw new Error('the cluster did not start within 5 s')
}

function hasProgram(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Returns whether a server on the port sends this response. By default, checks whether it has loaded its data. */
function answers(port: number, command = 'PING', response = '+PONG'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => void socket.write(`${command}\r\n`))
    const end = (is: boolean) => {
      socket.destroy()
      resolve(is)
    }
    socket.on('data', (bytes) => end(bytes.toString().includes(response)))
    socket.on('error', () => end(false))
    socket.setTimeout(1_000, () => end(false))
  })
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address ? address.port : 0
}
