// Buttons and sign-in of pages, in a real browser.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { findChromium } from '../../src/draw/find-chromium.ts'
import { findPackagedChromium } from '../../src/draw/packaged-chromium.ts'
import { inBrowser, type SiteOptions, type Visit } from '../support/browser.ts'
import { isLong } from '../support/property-runs.ts'

const bundled = async () => (await findPackagedChromium())!
const ofSystem = await findChromium().catch(() => undefined)
const hasOwn = ofSystem !== undefined && ofSystem.env === undefined

const cases: [name: string, options: SiteOptions, runs: boolean][] = [
  ['the bundled Chromium', { chromium: bundled }, true],
  ['the Chromium of the system', { chromium: () => findChromium() }, hasOwn && isLong],
  ['without --url, behind localhost', { isNamed: false, proxy: { host: 'localhost' } }, isLong],
  ['with --url, behind a proxy with another host name', { proxy: { host: 'charts.test' } }, isLong],
  [
    'without --url, behind a proxy that forwards its host name',
    { isNamed: false, proxy: { host: 'charts.test', forwardsHost: true } },
    true,
  ],
]

for (const [name, options, runs] of cases)
  describe.skipIf(!runs)(`buttons of pages: ${name}`, () => {
    const site = inBrowser(options)
    const key = (user: string): string => site().test.keys.get(user)!
    const titleOf = (page: Page): Promise<string> => page.$eval('h1', (heading) => heading.textContent ?? '')
    /** Presses the button with a text, and waits for the page it leads to. */
    const press = async (page: Page, text: string): Promise<void> => {
      const button = await page.waitForSelector(`::-p-xpath(//button[contains(., ${JSON.stringify(text)})])`)
      await Promise.all([page.waitForNavigation(), button!.click()])
    }
    const fill = async (page: Page, user: string, apiKey: string): Promise<void> => {
      await page.$eval('[name=username]', (field) => ((field as HTMLInputElement).value = ''))
      await page.type('[name=username]', user)
      await page.type('[name=api_key]', apiKey)
    }
    const signIn = async (path: string): Promise<Visit> => {
      const visit = await site().visit(`/signin?next=${encodeURIComponent(path)}`)
      await fill(visit.page, 'alice', key('alice'))
      await press(visit.page, 'Sign in')
      return visit
    }

    it('the sign-in page signs in, shows a private file, and signs out', async () => {
      const { web_url } = await site().test.grid('alice', 'private', { a: [1] })
      const path = new URL(web_url).pathname
      const visit = await signIn(path)
      expect([new URL(visit.page.url()).pathname, await titleOf(visit.page)]).toEqual([path, 'private'])
      await press(visit.page, 'Sign out')
      expect(new URL(visit.page.url()).pathname).toBe('/')
      expect((await visit.page.goto(site().url + path))!.status()).toBe(404)
      await visit.close()
    })

    it('a wrong key shows the form again, with the username', async () => {
      const visit = await site().visit('/signin')
      await fill(visit.page, 'alice', 'wrong')
      await press(visit.page, 'Sign in')
      expect(await visit.page.$eval('[role=alert]', (alert) => alert.textContent)).toBe(
        'Wrong username or API key.',
      )
      await fill(visit.page, 'alice', key('alice'))
      await press(visit.page, 'Sign in')
      expect(await visit.page.$eval('nav .account', (account) => account.textContent)).toContain('alice')
      await visit.close()
    })

    it('the Allow button passes a code to the waiting command line', async () => {
      const verifier = 'v'.repeat(43)
      let arrived: (url: string) => void
      const answer = new Promise<string>((resolve) => {
        arrived = resolve
      })
      const waiting = createServer((request, response) => {
        response.end('done')
        if (request.url?.includes('code=')) arrived(request.url)
      })
      await new Promise<void>((resolve) => waiting.listen(0, '127.0.0.1', resolve))
      const asked = new URLSearchParams({
        port: String((waiting.address() as AddressInfo).port),
        challenge: createHash('sha256').update(verifier).digest('base64url'),
        state: 's'.repeat(22),
        name: 'laptop',
      })
      const visit = await signIn(`/authorize?${asked}`)
      await press(visit.page, 'Allow')
      const code = new URL(await answer, 'http://x').searchParams.get('code')
      const made = await site().test.ask(undefined, 'POST', '/v2/logins', { json: { code, verifier } })
      expect([made.status, made.json.username]).toEqual([201, 'alice'])
      await visit.close()
      waiting.closeAllConnections()
      waiting.close()
    })

    it('a sign-in link asks first if another user is signed in', async () => {
      const visit = await signIn('/')
      const { json } = await site().test.ask('bob', 'POST', '/v2/sessions', { json: { path: '/~bob/' } })
      await visit.page.goto(site().url + json.path)
      expect(await titleOf(visit.page)).toBe('Sign in as bob?')
      await press(visit.page, 'Continue as bob')
      expect(await visit.page.$eval('nav .account', (account) => account.textContent)).toContain('bob')
      await visit.close()
    })

    it('a form of another site changes nothing, and its error is a page', async () => {
      const { elsewhere, url } = site()
      elsewhere.pages.set(
        '/attack',
        `<form method="post" action="${url}/signin"><input name="username" value="bob"><input name="api_key" value="${key('bob')}"><button>Win</button></form>`,
      )
      const visit = await signIn('/')
      await visit.page.goto(`${elsewhere.url}/attack`)
      await press(visit.page, 'Win')
      expect(await titleOf(visit.page)).toBe('Not permitted')
      await visit.page.goto(`${url}/`)
      expect(await visit.page.$eval('nav .account', (account) => account.textContent)).toContain('alice')
      await visit.close()
    })
  })
