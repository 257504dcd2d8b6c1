import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { skip } from '../support/suite.ts'
import { findFreePort } from './postgres-server.ts'

/** A Prometheus server on its own port that scrapes every half second. */
export interface PrometheusServer {
  /** Returns the values of a query result, by the label `name`. If several series have the same label value, the last one wins. */
  query(promql: string, name?: string): Promise<Record<string, number>>
  /** Waits until a query returns the expected value, for at most 20 s. */
  until(promql: string, isRight: (value: number) => boolean): Promise<void>
  /** Returns the error for each job whose last scrape failed. */
  problems(): Promise<Record<string, string>>
  remove(): Promise<void>
}

/** An address to scrape. `protocol` is the only format to request. Default: the formats that Prometheus prefers. */
export interface ScrapeJob {
  name: string
  target: string
  token: string
  path: string
}

/** Skips the file with a reason if Prometheus isn't available. */
export function requirePrometheus(): void {
  try {
    for (const program of ['prometheus', 'promtool']) execFileSync(program, ['--version'], { stdio: 'ignore' })
  } catch {
    skip('there is no Prometheus: install prometheus')
  }
}

export async function startPrometheus(jobs: readonly ScrapeJob[]): Promise<PrometheusServer> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-prometheus-'))
  const config = {
    global: { scrape_interval: '500ms', scrape_timeout: '500ms' },
    scrape_configs: jobs.map(({ name, target, token, path }) => ({
      job_name: name,
      metrics_path: path,
      authorization: { credentials: token },
      static_configs: [{ targets: [target] }],
    })),
  }
  const file = join(folder, 'prometheus.yml')
  await writeFile(file, JSON.stringify(config)) // JSON is valid YAML
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(
    'prometheus',
    [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`, `--web.listen-address=127.0.0.1:${port}`],
    { stdio: 'ignore' },
  )

  const read = async (path: string) => (await fetch(`${url}/api/v1/${path}`)).json()
  async function remove() {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true, force: true })
  }

  const query: PrometheusServer['query'] = async (promql, name = '') => {
    const { status, error, data } = await read(`query?query=${encodeURIComponent(promql)}`)
    if (status !== 'success') throw new Error(`${promql}: ${error}`)
    const found: { metric: Record<string, string>; value: [number, string] }[] = data.result
    return Object.fromEntries(found.map(({ metric, value }) => [metric[name] ?? '', Number(value[1])]))
  }

  for (let tries = 0; ; tries++) {
    if (
      await fetch(`${url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      break
    if (tries > 200) {
      await remove()
      throw new Error('Prometheus did not start within 10 s')
    }
    await sleep(50)
  }
  return {
    query,
    async until(promql, isRight) {
      let found: Record<string, number> = {}
      for (let tries = 0; tries < 100; tries++) {
        found = await query(promql)
        if (Object.values(found).some(isRight)) return
        await sleep(200)
      }
      throw new Error(`${promql} returns ${JSON.stringify(found)}`)
    },
    async problems() {
      const { data } = await read('targets')
      const targets: { labels: { job: string }; health: string; lastError: string }[] = data.activeTargets
      return Object.fromEntries(
        targets.flatMap(({ labels, health, lastError }) =>
          health === 'up' ? [] : [[labels.job, lastError || health]],
        ),
      )
    },
    remove,
  }
}
