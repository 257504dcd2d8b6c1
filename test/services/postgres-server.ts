import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { skip } from '../support/suite.ts'

/** A Postgres for tests: `SIGNALBOX_TEST_POSTGRES_URL`, or one that is started here from Debian's packages. */
export interface PostgresServer {
  url: string
  /** Whether `stop` and `start` work: only where the server is the tests' own. */
  isOwn: boolean
  start(): Promise<void>
  /** At once, as a crash would. */
  kill(): Promise<void>
  remove(): Promise<void>
}

/** Skips the file, with the reason, where there is none. */
export async function startPostgres(): Promise<PostgresServer> {
  const given = process.env.SIGNALBOX_TEST_POSTGRES_URL
  const nothing = async () => {}
  if (given) return { url: given, isOwn: false, start: nothing, kill: nothing, remove: nothing }
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
  const port = await freePort()
  let child: ReturnType<typeof spawn> | undefined

  async function start(): Promise<void> {
    const options = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder, '-c', 'fsync=off']
    child = spawn(join(bin ?? '', 'postgres'), options, { ...user, stdio: 'ignore' })
    for (let tries = 0; tries < 200; tries++) {
      try {
        execFileSync(join(bin ?? '', 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
        return
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    throw new Error('Postgres did not start within 10 s')
  }

  async function kill(): Promise<void> {
    const ended = new Promise((resolve) => child?.once('exit', resolve))
    child?.kill('SIGQUIT')
    await ended
  }

  await start()
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    isOwn: true,
    start,
    kill,
    async remove() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function binaries(): string | undefined {
  const folder = '/usr/lib/postgresql'
  const versions = existsSync(folder) ? readdirSync(folder).sort((a, b) => Number(b) - Number(a)) : []
  return versions.map((version) => join(folder, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')))
}

/** Postgres refuses to run as root. */
function runner(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    }),
  )
}
