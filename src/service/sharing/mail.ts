import type { Transporter } from 'nodemailer'

export interface Message {
  to: string
  subject: string
  text: string
}

const SMTP_TIMEOUT_MS = 15_000

/** Sends plain-text mail over SMTP. Connects when first used. */
export class Mail {
  private transport: Promise<Transporter> | undefined

  constructor(
    /** `smtp://user:password@host:587`, `smtps://…`. */
    private readonly smtp: string,
    /** The sender. */
    private readonly from: string,
  ) {}

  async send(letter: Message): Promise<void> {
    this.transport ??= import('nodemailer').then(({ createTransport }) =>
      createTransport(this.smtp, {
        connectionTimeout: SMTP_TIMEOUT_MS,
        greetingTimeout: SMTP_TIMEOUT_MS,
        socketTimeout: SMTP_TIMEOUT_MS,
      } as never),
    )
    // Pass one address as an object: in a string, a comma would separate several.
    await (await this.transport).sendMail({
      ...letter,
      to: { name: '', address: letter.to },
      from: this.from,
    })
  }

  async close(): Promise<void> {
    ;(await this.transport?.catch(() => undefined))?.close()
  }
}
