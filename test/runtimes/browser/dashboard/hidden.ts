import type { Browser } from 'playwright-core'
import { assert, type Suite } from '../../../support/suite.ts'
import { fill } from './fill.ts'
import { serveDashboard } from './site.ts'
import { goTo, visit, waitUntilSettled } from './visit.ts'

/** Tests that hidden tabs send no requests. */
export function addHiddenTabTests(test: Suite<{ browser?: Browser }>): void {
  test('a hidden tab sends no requests, and catches up when it becomes visible again', async ({ browser }) => {
    const server = await serveDashboard()
    await fill(server)
    const { page, faults, close } = await visit(browser as Browser, server.url, { movesTime: true }) // launched by `before`
    await waitUntilSettled(page)
    await page.evaluate(
      "Object.defineProperty(document, 'hidden', { configurable: true, get: () => globalThis.isAway === true })",
    )
    const turn = (isUnavailable: boolean) =>
      page.evaluate(`globalThis.isAway = ${isUnavailable}; document.dispatchEvent(new Event('visibilitychange'))`)
    await goTo(page, '#/keys')
    await page.getByRole('button', { name: 'Limits: ci' }).click()
    const dialog = page.getByRole('dialog') // loads when it opens, and then every two seconds; tables also have meters
    await dialog.getByRole('meter').first().waitFor()

    const left = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/live'))
    await turn(true)
    await left
    const sent: string[] = []
    page.on('request', (request) => sent.push(new URL(request.url()).pathname))
    await server.gateway.api.keys.create({ name: 'made-meanwhile' })
    await (await server.send({ model: 'cheap' })).text()
    await page.clock.runFor(60_000)
    await page.waitForTimeout(200) // lets in-flight requests finish
    assert.equal(sent, [])

    await turn(false)
    await page.getByRole('row', { name: /^made-meanwhile / }).waitFor({ state: 'attached' })
    for (const path of ['/api/live', '/api/keys']) assert.ok(sent.includes(path), `${path} in ${sent}`)
    assert.equal(
      faults.filter((fault) => !fault.includes('net::ERR_ABORTED')),
      [],
    )
    await close()
    await server.close()
  })
}
