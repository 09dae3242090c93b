// Sends e-mails over SMTP.
import type { Transporter } from '../../vendor/mail.ts'

export interface Message {
  to: string
  subject: string
  text: string
  html?: string
  attachments?: { filename: string; content: Buffer; cid: string }[]
  /** The same for a repeated message. */
  messageId?: string
}

const EMAIL_PATTERN =
  /^[^\s@"<>(),:;\\[\]\u0000-\u001f\u007f]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?$/

/** Returns whether a text is a single e-mail address, without a name. */
export function isEmailAddress(text: string): boolean {
  return EMAIL_PATTERN.test(text)
}

const SMTP_TIMEOUT_MS = 15_000

const UNREACHABLE = 'the mail server of this server cannot be reached'

/** Texts for the codes of nodemailer. */
const SMTP_ERRORS: Readonly<Record<string, string>> = {
  ECONNECTION: UNREACHABLE,
  ESOCKET: UNREACHABLE,
  ETIMEDOUT: UNREACHABLE,
  EDNS: UNREACHABLE,
  EAUTH: 'the mail server refused the login of this server',
  EENVELOPE: 'the mail server refused the address',
  EMESSAGE: 'the mail server refused the message',
}

/** Why a message was not sent. `isUnreachable`: the mail server was not asked; `isRefused`: it refused the receiver. */
export class MailError extends Error {
  constructor(
    message: string,
    readonly isUnreachable: boolean,
    readonly isRefused: boolean,
    options: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Sends e-mails over SMTP. Connects on first use. */
export class Mailer {
  private transport: Promise<Transporter> | undefined

  constructor(
    /** `smtp://user:password@host:587`, `smtps://…`. */
    private readonly smtp: string,
    /** Sender address. */
    private readonly from: string,
  ) {}

  /** Sends a message. Throws an error that says what the mail server did. */
  async send(message: Message): Promise<void> {
    try {
      await this.sendNow(message)
    } catch (error) {
      const { code = '', message: detail } = error as Error & { code?: string }
      const text = SMTP_ERRORS[code] ?? 'the mail server failed'
      throw new MailError(`${text}: ${detail}`, text === UNREACHABLE, code === 'EENVELOPE', { cause: error })
    }
  }

  private async sendNow(message: Message): Promise<void> {
    this.transport ??= import('../../vendor/mail.ts').then(({ createTransport }) =>
      createTransport(this.smtp, {
        connectionTimeout: SMTP_TIMEOUT_MS,
        greetingTimeout: SMTP_TIMEOUT_MS,
        socketTimeout: SMTP_TIMEOUT_MS,
      } as never),
    )
    // Pass the address as an object: in a string, a comma would separate several addresses.
    await (await this.transport).sendMail({
      ...message,
      to: { name: '', address: message.to },
      from: this.from,
    })
  }

  async close(): Promise<void> {
    ;(await this.transport?.catch(() => undefined))?.close()
  }
}
