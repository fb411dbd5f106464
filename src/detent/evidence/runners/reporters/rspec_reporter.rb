# RSpec's report for Detent, as one JSON value, written at the end of the run.
require "json"
require "rspec/core"

class DetentReporter
  RSpec::Core::Formatters.register self, :example_finished, :close

  class << self
    def outside
      @outside ||= []
    end
  end

  module Outside
    def notify_non_example_exception(exception, context)
      DetentReporter.outside << DetentReporter.said(exception).merge(context: context, file: DetentReporter.place(exception, context))
      super
    end
  end
  RSpec::Core::Reporter.prepend(Outside)

  def self.said(exception)
    return { kind: "", message: "", place: "" } unless exception
    several = exception.respond_to?(:all_exceptions) ? exception.all_exceptions : [exception]
    first = several.first
    { kind: first.class.name.to_s, message: first.message.to_s.dup.force_encoding("UTF-8").scrub, place: line_of(first) }
  end

  # The innermost frame of the project; if a file cannot be parsed, the message names it.
  def self.line_of(exception)
    shown = exception.is_a?(ScriptError) ? exception.message.to_s.scrub.scan(/^(\S+\.rb):(\d+): /).map { |each| each.join(":") } : []
    line = (shown + (exception.backtrace || [])).find { |each| each.start_with?(Dir.pwd + "/") && !each.include?("/gems/") && !each.include?("/vendor/") }
    line ? line.delete_prefix(Dir.pwd + "/").split(":").first(2).join(":") : ""
  end

  def self.place(exception, context)
    named = context[/while loading (\S+?)\.$/, 1]
    return named.delete_prefix("./") if named
    line = (exception.backtrace || []).find { |each| each.start_with?(Dir.pwd + "/") }
    line ? line.delete_prefix(Dir.pwd + "/").partition(":").first : ""
  end

  def initialize(output)
    @output = output
    @examples = []
  end

  def example_finished(notification)
    example = notification.example
    result = example.execution_result
    problem = result.status == :failed ? DetentReporter.said(result.exception) : { kind: "", message: result.pending_message.to_s }
    # An example without a description is named after its expectation, if it got that far; its location is stable.
    name = example.metadata[:description_args].empty? ? "#{example.example_group.metadata[:full_description]} [#{example.metadata[:scoped_id]}]" : example.full_description
    @examples << { file: example.metadata[:rerun_file_path].delete_prefix("./"), name: name.to_s.dup.force_encoding("UTF-8").scrub, status: result.status.to_s, seconds: result.run_time.to_f }.merge(problem)
  end

  def close(_notification)
    files = RSpec.configuration.files_to_run.map { |file| file.delete_prefix(Dir.pwd + "/") }
    @output.write(JSON.generate(examples: @examples, outside: DetentReporter.outside, files: files, dry: !!RSpec.configuration.dry_run?))
    @output.flush
  end
end
