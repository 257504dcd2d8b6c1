import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { skip } from '../support/suite.ts'

/** A Postgres server for tests: `SIGNALBOX_TEST_POSTGRES_URL`, or one started here from Debian's packages. */
export interface PostgresServer {
  url: string
  /** The port, or 0 for a server from the environment. */
  port: number
  /** Whether the tests started the server, so `kill` and `start` work. */
  isOwn: boolean
  start(): Promise<void>
  /** Kills the server immediately, like a crash. */
  kill(): Promise<void>
  remove(): Promise<void>
}

/** Skips the file with a reason if no server is available. With `mayDie`, starts a server that can be killed. */
export async function startPostgres({ mayDie = false } = {}): Promise<PostgresServer> {
  const input = process.env.SIGNALBOX_TEST_POSTGRES_URL
  const nothing = async () => {}
  if (input && !mayDie) return { url: input, port: 0, isOwn: false, start: nothing, kill: nothing, remove: nothing }
  const bin = binaries()
  if (!bin) skip('there is no Postgres: install postgresql, or name one in SIGNALBOX_TEST_POSTGRES_URL')
  const user = runner()
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-postgres-'))
  await chmod(folder, 0o700)
  if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
    {
      ...user,
      stdio: 'pipe',
    },
  )
  const port = await findFreePort()
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    const options = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder, '-c', 'fsync=off']
    for (let tries = 0; tries < 200; tries++) {
      // A killed server's processes take a moment to end. Until then, no server can start.
      if (!child || hasEnded(child)) child = spawn(join(bin ?? '', 'postgres'), options, { ...user, stdio: 'ignore' })
      try {
        execFileSync(join(bin ?? '', 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
        return
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    throw new Error('Postgres did not start within 10 s')
  }

  async function end(signal: 'SIGKILL' | 'SIGQUIT'): Promise<void> {
    if (!child || hasEnded(child)) return
    const ended = new Promise((resolve) => child?.once('exit', resolve))
    child.kill(signal)
    await ended
  }

  await start()
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    isOwn: true,
    start,
    kill: () => end('SIGKILL'),
    async remove() {
      await end('SIGQUIT')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null

function binaries(): string | undefined {
  const folder = '/usr/lib/postgresql'
  const versions = existsSync(folder) ? readdirSync(folder).sort((a, b) => Number(b) - Number(a)) : []
  return versions.map((version) => join(folder, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')))
}

/** Returns the user to run as, because neither Postgres nor PgBouncer runs as root. */
export function runner(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** Finds a port on which nothing listens. */
export function findFreePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    }),
  )
}
